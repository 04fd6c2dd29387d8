// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/replay/collectives.h"

#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <string_view>

#include "common/base/error.h"

namespace tandem::replay {
namespace {

using Kind = CollectiveRequest::Kind;

std::optional<Kind> kind_of(std::string_view name) {
  if (name == "all-reduce") return Kind::kAllReduce;
  if (name == "broadcast") return Kind::kBroadcast;
  if (name == "reduce") return Kind::kReduce;
  if (name == "all-gather") return Kind::kAllGather;
  if (name == "reduce-scatter") return Kind::kReduceScatter;
  return std::nullopt;
}

// The request whose size is the call's; nothing is at its address.
CollectiveRequest request_of(const RankCollective& call, Kind kind) {
  const Bytes size = kind == Kind::kAllGather ? call.size * call.ranks : call.size;
  const std::int64_t elements = (size.value + 3) / 4;
  const AnySpan span(nullptr, elements, DType::kFloat32, DeviceId{Backend::kSimulated, 0});
  return {.kind = kind, .from = span, .to = span};
}

std::string words_of(const RankCollective& call) {
  return fmt::format("{} {} of {} bytes among {} ranks", call.name.starts_with('a') ? "an" : "a",
                     call.name, call.size.value, call.ranks);
}

}  // namespace

Collectives::Meeting Collectives::made(const RankCollective& call) {
  const auto kind = kind_of(call.name);
  if (!kind) {
    fail(ErrorKind::kUsage,
         "replaying the log: a {} has no time in the model of collectives; leave out what calls it",
         call.name);
  }
  Meeting meeting{.first = call};
  const Nanoseconds time =
      call.ranks == 1 ? Nanoseconds{0}
                      : simulated::collective_time(links_, request_of(call, *kind), call.ranks);
  meeting.id = schedule_.add_collective({.parts = call.ranks, .duration = time});
  return meeting;
}

simulated::CollectiveId Collectives::at(std::size_t process, const RankCollective& call,
                                        MeetingRanks ranks) {
  const bool in_group = ranks == MeetingRanks::kOfOneGroup;
  const std::int64_t place = in_group ? call.group : call.communicator;
  const int number = called_[{process, ranks, place, call.rank}]++;
  const Key key{in_group ? static_cast<int>(process) : -1, place, number};
  auto found = all_.find(key);
  if (found == all_.end()) found = all_.emplace(key, made(call)).first;
  Meeting& meeting = found->second;
  const bool is_alike = meeting.first.name == call.name && meeting.first.size == call.size &&
                        meeting.first.ranks == call.ranks;
  if (!is_alike || !meeting.ranks.insert(call.rank).second) {
    fail(ErrorKind::kUsage,
         "replaying the log: rank {} calls {} where another rank calls {}; record all ranks "
         "of one job together",
         call.rank, words_of(call), words_of(meeting.first));
  }
  return meeting.id;
}

void Collectives::check_complete() const {
  for (const auto& [key, meeting] : all_) {
    if (std::ssize(meeting.ranks) == meeting.first.ranks) continue;
    int missing = 0;
    while (meeting.ranks.contains(missing)) ++missing;
    fail(ErrorKind::kUsage,
         "replaying the log: rank {} is missing in {}; give the logs of all ranks", missing,
         words_of(meeting.first));
  }
}

}  // namespace tandem::replay
