// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace tandem::ddp::horovod {

// A rank's word that a tensor of its own is ready; plain, it is sent as it lies.
struct Request {
  std::int64_t tensor = 0;
  std::int64_t bytes = 0;  // ranks must agree on them

  bool operator==(const Request&) const = default;
};

// The coordinator's book: which ranks have reported which tensors. Whatever order ranks report in,
// the order in which tensors were complete is one, and is sent to all.
class Negotiation {
 public:
  explicit Negotiation(int ranks) : ranks_(ranks) {}

  // A rank reports a tensor, once until it is taken. Throws a communication error where ranks
  // differ in its size.
  void report(int rank, const Request& request);

  // Tensors that all ranks have reported by now, in the order in which the last rank did.
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
