// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <fstream>

#include "common/base/error.h"
#include "common/base/input_file.h"
#include "common/base/known_names.h"
#include "tests/support/scratch_folder.h"

namespace tandem {
namespace {

class PinnedFileTest : public testing::Test {
 public:
  PinnedFileTest() { write("{}"); }

  void write(const std::string& text) const { std::ofstream(folder_ / "own.json") << text; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  [[nodiscard]] std::string pinned() const { return pinned_name("own.json", "test", folder()); }

 private:
  const test::ScratchFolder folder_;
};

TEST(ChecksumTest, IsThatOfFnv1a) {
  EXPECT_EQ(checksum_of(""), "cbf29ce484222325");
  EXPECT_EQ(checksum_of("a"), "af63dc4c8601ec8c");
}

TEST(KnownNamesTest, NearestIsNamed_WhereItIsNear) {
  constexpr std::array<std::string_view, 3> kNames{"flops", "seconds", "operations"};
  EXPECT_EQ(nearest_name("flop", kNames), "flops");
  EXPECT_EQ(nearest_name("secods", kNames), "seconds");
  EXPECT_EQ(nearest_name("falops", kNames), "flops");
  EXPECT_EQ(nearest_name("seocnds", kNames), "seconds");
  EXPECT_EQ(did_you_mean("operation", kNames), "; did you mean 'operations'?");
  EXPECT_EQ(did_you_mean("frobnicate", kNames), "");
  EXPECT_EQ(nearest_name("quux", kNames), "");
  EXPECT_EQ(nearest_name(std::string(1000, 'x'), kNames), "");
}

TEST_F(PinnedFileTest, Names_StandForModels_AndPathsForFiles) {
  EXPECT_FALSE(checksummed_file("mlp-small").has_value());
  EXPECT_FALSE(checksummed_file("gpt2-124m:64").has_value());
  EXPECT_FALSE(checksummed_file("a#b").has_value());
  EXPECT_EQ(checksummed_file("a/own.json")->path, "a/own.json");
  EXPECT_EQ(checksummed_file("a/own.json#12")->checksum, "12");
  EXPECT_EQ(pinned_name("mlp-small", "test"), "mlp-small");
}

TEST_F(PinnedFileTest, Pinned_ReadsWhatItWas_AndRefusesWhatItBecame) {
  const std::string name = pinned();
  EXPECT_TRUE(name.ends_with("own.json#" + checksum_of("{}")));
  EXPECT_EQ(text_of(*checksummed_file(name), "test"), "{}");
  EXPECT_EQ(pinned_name(name, "test"), name);
  write("{ }");
  EXPECT_NE(pinned(), name);
  try {
    static_cast<void>(text_of(*checksummed_file(name), "test"));
    FAIL() << "a changed file was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_NE(std::string(error.what()).find("was changed since"), std::string::npos);
  }
}

TEST_F(PinnedFileTest, Results_CallItTheSame_WhereverItLies) {
  const std::string name = name_in_results(pinned());
  EXPECT_EQ(name, "own.json#" + checksum_of("{}"));
  EXPECT_EQ(name_in_results(name), name);
  EXPECT_EQ(name_in_results("mlp-small"), "mlp-small");
  EXPECT_EQ(name_in_results("a/b"), "a/b");
}

TEST_F(PinnedFileTest, AbsentFile_IsAUsageError) {
  EXPECT_THROW(static_cast<void>(pinned_name("no-such.json", "test")), Error);
}

TEST_F(PinnedFileTest, Pipe_IsNotWaitedFor) {
  ASSERT_EQ(mkfifo((folder() / "pipe.json").c_str(), S_IRUSR | S_IWUSR), 0);
  EXPECT_THROW(static_cast<void>(pinned_name("pipe.json", "test", folder())), Error);
}

}  // namespace
}  // namespace tandem
