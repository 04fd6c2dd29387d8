// SPDX-License-Identifier: Apache-2.0
#include "ddp/horovod/controller.h"

#include <utility>

#include "common/base/error.h"

namespace tandem::ddp::horovod {

Controller::Controller(Exchange exchange, int rank, int ranks, std::vector<Bytes> sizes,
                       std::size_t cache_capacity)
    : exchange_(std::move(exchange)),
      rank_(rank),
      sizes_(std::move(sizes)),
      cache_(cache_capacity),
      negotiation_(ranks) {}

CycleDecision Controller::run_cycle(const std::vector<int>& ready, bool shut_down) {
  held_.insert(held_.end(), ready.begin(), ready.end());
  const std::vector<Request> uncached = take_uncached();
  const CycleReport mine = report(!uncached.empty(), shut_down);
  const CycleReport common = combine(exchange_(encode(mine)), cache_.size());
  if (common.shut_down) return {.shut_down = true};
  CycleDecision decision{.tensors = take_common(common.hits)};
  if (!decision.tensors.empty()) decision.path = CyclePath::kCached;
  if (common.uncached) {
    decision.path = CyclePath::kNegotiated;
    const std::vector<int> agreed = negotiate(uncached);
    decision.tensors.insert(decision.tensors.end(), agreed.begin(), agreed.end());
  }
  cache_.use(decision.tensors);
  return decision;
}

std::optional<int> Controller::undecided() const {
  if (!held_.empty()) return held_.front();
  if (!reported_.empty()) return *reported_.begin();
  return std::nullopt;
}

std::vector<Request> Controller::take_uncached() {
  std::vector<Request> requests;
  std::erase_if(held_, [&](int tensor) {
    if (cache_.position_of(tensor)) return false;
    requests.push_back({tensor, sizes_.at(static_cast<std::size_t>(tensor)).value});
    reported_.insert(tensor);
    return true;
  });
  return requests;
}

CycleReport Controller::report(bool uncached, bool shut_down) const {
  CycleReport report{
      .uncached = uncached, .shut_down = shut_down, .hits = std::vector<bool>(cache_.size())};
  for (const int tensor : held_) report.hits[cache_.position_of(tensor).value()] = true;
  return report;
}

std::vector<int> Controller::take_common(const std::vector<bool>& hits) {
  std::vector<int> common;
  for (std::size_t position = 0; position < hits.size(); ++position) {
    if (hits[position]) common.push_back(cache_.tensor_at(position));
  }
  std::erase_if(held_, [&](int tensor) { return hits[cache_.position_of(tensor).value()]; });
  return common;
}

// Negotiates in two exchanges: all ranks' requests, which rank 0 alone uses, and rank 0's answer.
std::vector<int> Controller::negotiate(const std::vector<Request>& requests) {
  const std::vector<std::string> all = exchange_(encode(requests));
  for (std::size_t peer = 0; rank_ == 0 && peer < all.size(); ++peer) {
    for (const Request& request : decode_requests(all[peer])) {
      negotiation_.report(static_cast<int>(peer), request);
    }
  }
  const std::string answer = encode(negotiation_.take_complete());  // empty but on rank 0
  std::vector<int> agreed;
  for (const std::int64_t tensor : decode_tensors(exchange_(answer).front())) {
    agreed.push_back(static_cast<int>(tensor));
    TANDEM_CHECK(reported_.erase(agreed.back()) == 1, "rank {} never reported tensor {}", rank_,
                 tensor);
  }
  return agreed;
}

}  // namespace tandem::ddp::horovod
