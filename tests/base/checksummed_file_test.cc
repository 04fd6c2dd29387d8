// SPDX-License-Identifier: Apache-2.0
#include "common/base/checksummed_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "common/base/checksum.h"
#include "common/base/error.h"
#include "tests/support/errors.h"
#include "tests/support/scratch_folder.h"

namespace tandem {
namespace {

class ChecksummedFileTest : public testing::Test {
 public:
  ChecksummedFileTest() { write("{}"); }

  void write(const std::string& text) const { std::ofstream(folder_ / "own.json") << text; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  [[nodiscard]] std::string name() const { return with_checksum("own.json", "test", folder()); }

 private:
  const test::ScratchFolder folder_;
};

TEST(ChecksumTest, IsThatOfFnv1a) {
  EXPECT_EQ(checksum_of(""), "cbf29ce484222325");
  EXPECT_EQ(checksum_of("a"), "af63dc4c8601ec8c");
}

TEST_F(ChecksummedFileTest, Names_StandForModels_AndPathsForFiles) {
  EXPECT_FALSE(checksummed_file("mlp-small").has_value());
  EXPECT_FALSE(checksummed_file("gpt2-124m:64").has_value());
  EXPECT_FALSE(checksummed_file("a#b").has_value());
  EXPECT_EQ(checksummed_file("a/own.json")->path, "a/own.json");
  EXPECT_EQ(checksummed_file("a/own.json#12")->checksum, "12");
  EXPECT_EQ(with_checksum("mlp-small", "test"), "mlp-small");
}

TEST_F(ChecksummedFileTest, WithItsChecksum_ReadsWhatItWas_AndRefusesWhatItBecame) {
  const std::string before = name();
  EXPECT_TRUE(before.ends_with("own.json#" + checksum_of("{}")));
  EXPECT_EQ(text_of(*checksummed_file(before), "test"), "{}");
  EXPECT_EQ(with_checksum(before, "test"), before);
  write("{ }");
  EXPECT_NE(name(), before);
  const Error error =
      test::error_of([&] { static_cast<void>(text_of(*checksummed_file(before), "test")); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_NE(std::string(error.what()).find("was changed since"), std::string::npos);
}

TEST_F(ChecksummedFileTest, Results_CallItTheSame_WhereverItLies) {
  const std::string in_results = name_in_results(name());
  EXPECT_EQ(in_results, "own.json#" + checksum_of("{}"));
  EXPECT_EQ(name_in_results(in_results), in_results);
  EXPECT_EQ(name_in_results("mlp-small"), "mlp-small");
  EXPECT_EQ(name_in_results("a/b"), "a/b");
}

TEST_F(ChecksummedFileTest, AbsentFile_IsAUsageError) {
  EXPECT_THROW(static_cast<void>(with_checksum("no-such.json", "test")), Error);
}

TEST_F(ChecksummedFileTest, Pipe_IsNotWaitedFor) {
  ASSERT_EQ(mkfifo((folder() / "pipe.json").c_str(), S_IRUSR | S_IWUSR), 0);
  EXPECT_THROW(static_cast<void>(with_checksum("pipe.json", "test", folder())), Error);
}

}  // namespace
}  // namespace tandem
