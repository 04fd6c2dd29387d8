// SPDX-License-Identifier: Apache-2.0
#include "ddp/horovod/negotiation.h"

#include <utility>

#include "common/base/error.h"

namespace tandem::ddp::horovod {

void Negotiation::report(int rank, const Request& request) {
  TANDEM_CHECK(rank >= 0 && rank < ranks_, "rank {} of {}", rank, ranks_);
  const auto [at, is_new] = waiting_.try_emplace(request.tensor);
  Entry& entry = at->second;
  if (is_new) {
    entry = {request.bytes, rank, std::vector<bool>(static_cast<std::size_t>(ranks_)), ranks_};
  }
  if (entry.bytes != request.bytes) {
    fail(PeerFailure{.kind = PeerFailure::Kind::kDiverged},
         "gradient {} has {} bytes on rank {} and {} on rank {}: every rank must train the same "
         "model",
         request.tensor, entry.bytes, entry.first_rank, request.bytes, rank);
  }
  auto reported = entry.reported[static_cast<std::size_t>(rank)];
  TANDEM_CHECK(!reported, "rank {} reports tensor {} twice", rank, request.tensor);
  reported = true;
  if (--entry.missing > 0) return;
  complete_.push_back(request.tensor);
  waiting_.erase(at);
}

std::vector<std::int64_t> Negotiation::take_complete() { return std::exchange(complete_, {}); }

}  // namespace tandem::ddp::horovod
