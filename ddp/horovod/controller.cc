// SPDX-License-Identifier: Apache-2.0
#include "ddp/horovod/controller.h"

#include <cstring>
#include <type_traits>
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

template <class T>
std::string encode_records(const std::vector<T>& records) {
  static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>);
  std::string text(records.size() * sizeof(T), '\0');
  if (!records.empty()) std::memcpy(text.data(), records.data(), text.size());
  return text;
}

template <class T>
std::vector<T> decode_records(const char* what, const std::string& text) {
  if (text.size() % sizeof(T) != 0) fail_to_read(what, text.size());
  std::vector<T> records(text.size() / sizeof(T));
  if (!records.empty()) std::memcpy(records.data(), text.data(), text.size());
  return records;
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

std::string encode(const std::vector<Request>& requests) { return encode_records(requests); }

std::string encode(const std::vector<std::int64_t>& tensors) { return encode_records(tensors); }

std::vector<Request> decode_requests(const std::string& text) {
  return decode_records<Request>("a list of requests", text);
}

std::vector<std::int64_t> decode_tensors(const std::string& text) {
  return decode_records<std::int64_t>("a list of responses", text);
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
