// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace tandem::ddp::horovod {

// A rank's message that a tensor of its own is ready; sent as the struct lies in memory.
struct Request {
  std::int64_t tensor = 0;
  std::int64_t bytes = 0;  // size, on which ranks must agree

  bool operator==(const Request&) const = default;
};

// The coordinator's book: which ranks have reported which tensors. Ranks report in any order;
// tensors have one order of completion, which is sent to all ranks.
class Negotiation {
 public:
  explicit Negotiation(int ranks) : ranks_(ranks) {}

  // Enters a rank's report of a tensor, once until the tensor is taken. Throws a communication
  // error where ranks differ in the tensor's size.
  void report(int rank, const Request& request);

  // Tensors that all ranks have reported by now, in the order of the last rank's reports.
  [[nodiscard]] std::vector<std::int64_t> take_complete();

 private:
  struct Entry {
    std::int64_t bytes = 0;
    int first_rank = 0;
    std::vector<bool> reported;  // by rank
    int missing = 0;
  };

  const int ranks_;
  std::map<std::int64_t, Entry> waiting_;  // by tensor
  std::vector<std::int64_t> complete_;
};

}  // namespace tandem::ddp::horovod
