// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "common/base/units.h"
#include "common/comm/bootstrap.h"

namespace tandem {

// Ranks as threads of this process. One group is made for all ranks and outlives them; each rank's
// thread takes its own Bootstrap from the group.
class ThreadGroup final : public RankGroup {
 public:
  explicit ThreadGroup(int size, Nanoseconds deadline = std::chrono::seconds(60));

  [[nodiscard]] int size() const { return static_cast<int>(texts_.size()); }
  [[nodiscard]] std::unique_ptr<Bootstrap> join(int rank) override;

  // One exchange. Throws a communication error once the group is aborted, and at the deadline,
  // which aborts the group for all ranks.
  [[nodiscard]] std::vector<std::string> all_gather(int rank, const std::string& mine);

  // The group of the ranks that gave `colour` to their split number `number`; the first rank that
  // asks makes it. The part lives as long as this group, and is aborted with this group.
  [[nodiscard]] ThreadGroup& part(int number, int colour, int size);
  void abort() override;

 private:
  [[noreturn]] void fail_alone(int rank) const;

  const Nanoseconds deadline_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::vector<std::string> texts_;
  std::vector<std::string> gathered_;  // texts of the round that ended last
  int arrived_ = 0;
  std::uint64_t round_ = 0;
  bool aborted_ = false;
  std::map<std::pair<int, int>, std::unique_ptr<ThreadGroup>> parts_;  // by number and colour
};

// Runs `body(bootstrap)` on one thread per rank and joins them all. The first failure by rank is
// rethrown; a rank that fails aborts the group, so that the others end as well.
void run_ranks_as_threads(int size, const std::function<void(Bootstrap&)>& body);

}  // namespace tandem
