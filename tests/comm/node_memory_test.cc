// SPDX-License-Identifier: Apache-2.0
#include "common/comm/node_memory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/error.h"

namespace tandem::test {
namespace {

// Rank 0 of two processes, whose peer answers so many exchanges and is lost then.
class BootstrapThatLosesItsPeer final : public Bootstrap {
 public:
  explicit BootstrapThatLosesItsPeer(int answers) : answers_(answers) {}

  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 2; }
  [[nodiscard]] const std::vector<int>& job_ranks() const override { return job_ranks_; }
  [[nodiscard]] bool shares_address_space() const override { return false; }
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    if (answers_-- == 0) fail(ErrorKind::kCommunication, "rank 1 is lost");
    return {mine, ""};
  }
  [[nodiscard]] std::unique_ptr<Bootstrap> split(int) override {
    fail(ErrorKind::kLogic, "nobody splits here");
  }
  void abort(int) override {}

 private:
  const std::vector<int> job_ranks_{0, 1};
  int answers_;
};

std::vector<std::string> segments_of_this_process() {
  const std::string mine = fmt::format("tandem.{}.", ::getpid());
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(mine)) found.push_back(name);
  }
  return found;
}

// The name, that it was made, that it was opened: the peer may be lost in each of these exchanges.
TEST(NodeMemory, PeerLostWhileItIsMade_LeavesNoName) {
  for (int answers = 0; answers < 3; ++answers) {
    BootstrapThatLosesItsPeer bootstrap(answers);
    EXPECT_THROW(static_cast<void>(map_node_memory(bootstrap, Bytes{4096})), Error) << answers;
    EXPECT_EQ(segments_of_this_process(), std::vector<std::string>{}) << answers;
  }
}

TEST(NodeMemory, PeerThatAnswers_HasItMapped) {
  BootstrapThatLosesItsPeer bootstrap(3);
  EXPECT_NE(map_node_memory(bootstrap, Bytes{4096}), nullptr);
  EXPECT_EQ(segments_of_this_process(), std::vector<std::string>{});
}

}  // namespace
}  // namespace tandem::test
