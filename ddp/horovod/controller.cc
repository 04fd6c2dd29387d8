// SPDX-License-Identifier: Apache-2.0
#include "ddp/horovod/controller.h"

#include <cstring>
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
         "gradient {} has {} bytes on rank {} and {} on rank {}: "
         "every rank must train the same model",
         request.tensor, entry.bytes, entry.first_rank, request.bytes, rank);
  }
  auto reported = entry.reported[static_cast<std::size_t>(rank)];
  TANDEM_CHECK(!reported, "rank {} reports tensor {} twice", rank, request.tensor);
  reported = true;
  if (--entry.missing > 0) return;
  complete_.push_back(request);
  waiting_.erase(at);
}

std::vector<Request> Negotiation::take_complete() { return std::exchange(complete_, {}); }

namespace {

constexpr unsigned kUncached = 1;
constexpr unsigned kShutDown = 2;
constexpr std::size_t kBits = 8;  // per character

// A report is a flag byte, then the bits.
std::size_t report_length(std::size_t positions) { return 1 + (positions + kBits - 1) / kBits; }

unsigned byte_at(const std::string& text, std::size_t index) {
  return static_cast<unsigned char>(text[index]);
}

void set_bits(std::string& text, std::size_t index, unsigned bits) {
  text[index] = static_cast<char>(byte_at(text, index) | bits);
}

[[noreturn]] void fail_to_read(const char* what, std::size_t length) {
  fail(ErrorKind::kCommunication,
       "{} of {} bytes from another rank makes no sense: every rank must run the same build", what,
       length);
}

}  // namespace

std::string encode(const CycleReport& report) {
  std::string text(report_length(report.hits.size()), '\0');
  set_bits(text, 0, (report.uncached ? kUncached : 0U) | (report.shut_down ? kShutDown : 0U));
  for (std::size_t i = 0; i < report.hits.size(); ++i) {
    if (report.hits[i]) set_bits(text, 1 + i / kBits, 1U << (i % kBits));
  }
  return text;
}

CycleReport combine(const std::vector<std::string>& reports, std::size_t positions) {
  CycleReport common{.hits = std::vector<bool>(positions, true)};
  for (const std::string& text : reports) {
    if (text.size() != report_length(positions)) fail_to_read("a report", text.size());
    common.uncached = common.uncached || (byte_at(text, 0) & kUncached) != 0;
    common.shut_down = common.shut_down || (byte_at(text, 0) & kShutDown) != 0;
    for (std::size_t i = 0; i < positions; ++i) {
      const bool hit = (byte_at(text, 1 + i / kBits) >> (i % kBits) & 1U) != 0;
      common.hits[i] = common.hits[i] && hit;
    }
  }
  return common;
}

std::string encode(const std::vector<Request>& requests) {
  return {reinterpret_cast<const char*>(requests.data()), requests.size() * sizeof(Request)};
}

std::vector<Request> decode(const std::string& text) {
  if (text.size() % sizeof(Request) != 0) fail_to_read("a list of requests", text.size());
  std::vector<Request> requests(text.size() / sizeof(Request));
  if (!requests.empty()) std::memcpy(requests.data(), text.data(), text.size());
  return requests;
}

std::optional<std::size_t> ResponseCache::position_of(int tensor) const {
  const auto index = static_cast<std::size_t>(tensor);
  return index < positions_.size() ? positions_[index] : std::nullopt;
}

void ResponseCache::set_position(int tensor, std::optional<std::size_t> position) {
  const auto index = static_cast<std::size_t>(tensor);
  if (index >= positions_.size()) positions_.resize(index + 1);
  positions_[index] = position;
}

// Takes all tensors at once: one by one, a cache of n tensors would be gone through n times in
// every step.
void ResponseCache::use(const std::vector<int>& tensors) {
  if (tensors.empty()) return;
  for (const int tensor : tensors) {
    if (const auto position = position_of(tensor)) tensors_[*position] = -1;
  }
  std::erase(tensors_, -1);
  tensors_.insert(tensors_.end(), tensors.begin(), tensors.end());
  const std::size_t forgotten = tensors_.size() > capacity_ ? tensors_.size() - capacity_ : 0;
  for (std::size_t i = 0; i < forgotten; ++i) set_position(tensors_[i], std::nullopt);
  tensors_.erase(tensors_.begin(), tensors_.begin() + static_cast<std::ptrdiff_t>(forgotten));
  for (std::size_t i = 0; i < tensors_.size(); ++i) set_position(tensors_[i], i);
}

Controller::Controller(GatherTexts exchange, int rank, int ranks, std::vector<Bytes> sizes,
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
  if (common.uncached) {
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
    for (const Request& request : decode(all[peer])) {
      negotiation_.report(static_cast<int>(peer), request);
    }
  }
  const std::string answer = encode(negotiation_.take_complete());  // empty but on rank 0
  std::vector<int> agreed;
  for (const Request& request : decode(exchange_(answer).front())) {
    agreed.push_back(static_cast<int>(request.tensor));
    TANDEM_CHECK(reported_.erase(agreed.back()) == 1, "rank {} never reported tensor {}", rank_,
                 request.tensor);
  }
  return agreed;
}

}  // namespace tandem::ddp::horovod
