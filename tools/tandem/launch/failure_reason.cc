// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launch/failure_reason.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "common/base/units.h"

namespace tandem::cli {
namespace {

using Records = std::vector<FlightRecord>;
using Chosen = std::vector<const FlightRecord*>;

template <class Is>
Chosen those_who(const Records& records, const Is& is) {
  Chosen found;
  for (const FlightRecord& record : records) {
    if (is(record)) found.push_back(&record);
  }
  return found;
}

Chosen all_of(const Records& records) {
  return those_who(records, [](const FlightRecord&) { return true; });
}

// The record with the least key, the first of equal ones; null without records.
template <class Key>
const FlightRecord* first_by(const Chosen& records, const Key& key) {
  const auto found = std::ranges::min_element(
      records, {}, [&](const FlightRecord* record) { return key(*record); });
  return found == records.end() ? nullptr : *found;
}

const FlightRecord* find(const Records& records, int rank) {
  const auto found = std::ranges::find(records, rank, &FlightRecord::rank);
  return found == records.end() ? nullptr : &*found;
}

// The collective of that number, from the first record that holds the collective.
const FlightRecord::Collective* known(const Records& records, std::uint64_t sequence) {
  for (const FlightRecord& record : records) {
    if (const auto* const collective = record.find(sequence)) return collective;
  }
  return nullptr;
}

// Whether the rank's own wait timed out, not another rank's.
bool gave_up(const FlightRecord& record) {
  return record.failure && record.failure->kind == FailureKind::kWaited;
}

// The text "step 12, phase backward, in all_reduce #35 (4.0 MiB)".
std::string where(const FlightRecord& record, const Records& records) {
  const std::string place = to_string(record.place());
  if (const auto* const now = record.in_hand()) {
    return fmt::format("{}, in {}", place, to_string(*now));
  }
  if (const auto* const next = known(records, record.finished + 1)) {
    return fmt::format("{}, before {}", place, to_string(*next));
  }
  if (const auto* const last = known(records, record.finished)) {
    return fmt::format("{}, after {}", place, to_string(*last));
  }
  return place + ", before any collective";
}

// The longest time that a rank waited.
std::string waiting(const Records& records) {
  const FlightRecord* const longest =
      first_by(those_who(records, gave_up),
               [](const FlightRecord& record) { return -record.failure->waited; });
  if (longest == nullptr || longest->failure->waited == 0) return "";
  return fmt::format("; rank {} waited {} for it", longest->rank,
                     to_string(Seconds(Nanoseconds(longest->failure->waited))));
}

bool has_failed(const FlightRecord& record) { return record.failure.has_value(); }

bool has_own_error(const FlightRecord& record) {
  return record.failure && record.failure->is_own();
}

// Whether all ranks report the same error, as the threads of one process do, and ranks that met a
// failure together.
bool all_say_the_same(const Records& records) {
  if (static_cast<int>(records.size()) != records.front().world) return false;
  return std::ranges::all_of(records, [&](const FlightRecord& record) {
    return record.failure && record.failure->text == records.front().failure->text;
  });
}

auto progress(const FlightRecord& record) {
  return std::tuple(record.place().step, record.finished, record.started);
}

// Whether the rank came so late to the collective that both ranks are in that the rank must have
// been away.
bool came_late(const FlightRecord& record, const FlightRecord& other) {
  constexpr std::int64_t kAway = 100'000'000;  // nanoseconds
  const auto* const mine = record.in_hand();
  const auto* const theirs = other.in_hand();
  return mine != nullptr && theirs != nullptr && mine->started > theirs->started + kAway;
}

const FlightRecord& least(const Chosen& records) { return *first_by(records, progress); }

bool is_same(const FlightRecord::Collective& a, const FlightRecord::Collective& b) {
  return a.name == b.name && a.bytes == b.bytes;
}

// Equal sequence numbers alone prove no divergence: ranks with uneven parts, or ranks that send and
// receive, make different calls under the same numbers. A communicator's own report proves
// divergence, and so do ranks that all waited while none was late.
bool has_messages(const FlightRecord& record) {
  return std::ranges::any_of(record.collectives, [](const auto& call) {
    return call.name == "send" || call.name == "recv" || call.name == "scatter" ||
           call.name == "gather";
  });
}

std::string divergence(const Records& records) {
  for (const FlightRecord& a : records) {
    const auto* const mine = a.in_hand();
    if (mine == nullptr) continue;
    for (const FlightRecord& b : records) {
      const auto* const theirs = b.find(mine->sequence);
      if (theirs == nullptr || theirs->started == 0 || is_same(*mine, *theirs)) continue;
      return fmt::format(
          "ranks {} and {} went different ways in {}: rank {} called {}, rank {} called {}", a.rank,
          b.rank, to_string(a.place()), a.rank, to_string(*mine), b.rank, to_string(*theirs));
    }
  }
  return "";
}

std::vector<int> ranks_of(const Chosen& records) {
  std::vector<int> ranks;
  for (const FlightRecord* const record : records) ranks.push_back(record->rank);
  return ranks;
}

std::string ranks_text(const Chosen& records) {
  return fmt::format("rank{} {}", records.size() == 1 ? "" : "s",
                     fmt::join(ranks_of(records), ", "));
}

bool says_different(const FlightRecord& record) {
  return record.failure && record.failure->kind == FailureKind::kDiverged;
}

// The record of the first error in time; null where no rank has an error of its own.
const FlightRecord* first_own_error(const Records& records) {
  return first_by(those_who(records, has_own_error),
                  [](const FlightRecord& record) { return record.failure->at; });
}

std::string own_error(const Records& records) {
  const FlightRecord* const first = first_own_error(records);
  if (first == nullptr) return "";
  return fmt::format("rank {} failed in {}: {}", first->rank, where(*first, records),
                     first->failure->text);
}

// A rank of the world that left no record; -1 where all left one.
int absent_rank(const Records& records) {
  for (int rank = 0; rank < records.front().world; ++rank) {
    if (find(records, rank) == nullptr) return rank;
  }
  return -1;
}

// Whether the rank spoke only after another rank of its node had ended the job: a stopped rank goes
// on, and speaks, when the job ends.
bool spoke_too_late(const FlightRecord& record, const Records& records) {
  return std::ranges::any_of(records, [&](const FlightRecord& other) {
    return other.host == record.host && other.ended_job != 0 &&
           record.failure->at > other.ended_job;
  });
}

bool is_silent(const FlightRecord& record, const Records& records) {
  return !record.ended && (!record.failure || spoke_too_late(record, records));
}

bool contains(const std::vector<int>& ranks, int rank) {
  return std::ranges::find(ranks, rank) != ranks.end();
}

bool is_awaited(const FlightRecord& record, const Records& records) {
  return std::ranges::any_of(records, [&](const FlightRecord& other) {
    return gave_up(other) && contains(other.failure->awaited, record.rank);
  });
}

// Whether another rank of the same host saw the rank's process stopped, which is certain evidence.
bool was_stopped(const FlightRecord& record, const Records& records) {
  return std::ranges::any_of(records, [&](const FlightRecord& other) {
    return other.failure && contains(other.failure->stopped, record.rank);
  });
}

// The ranks that may have held up the others: ranks that were seen stopped; else silent ranks that
// others waited for; else all silent ranks; else awaited ranks that did not give up themselves, and
// went on too late.
Chosen suspects(const Records& records) {
  const auto silent = [&](const FlightRecord& record) { return is_silent(record, records); };
  const auto awaited = [&](const FlightRecord& record) { return is_awaited(record, records); };
  auto found = those_who(records, [&](const auto& record) { return was_stopped(record, records); });
  if (found.empty()) {
    found =
        those_who(records, [&](const auto& record) { return silent(record) && awaited(record); });
  }
  if (found.empty()) found = those_who(records, silent);
  if (found.empty()) {
    found =
        those_who(records, [&](const auto& record) { return awaited(record) && !gave_up(record); });
  }
  return found;
}

// Whether a rank is in bench's phase "meet" before the first step, where ranks wait for all others:
// a rank that is there is not the rank awaited.
bool is_at_the_meeting(const FlightRecord* record) {
  return record->place().step == 0 && record->place().phase == "meet";
}

bool lost_a_connection(const FlightRecord& record) {
  return record.failure && record.failure->kind == FailureKind::kLost;
}

// Connections that broke before any rank's wait timed out show that their other end went away.
std::string what_became_of_it(const Records& records) {
  const bool was_lost =
      std::ranges::any_of(records, lost_a_connection) && std::ranges::none_of(records, gave_up);
  return was_lost ? "its connections broke, and it left no word" : "it was stopped, or late";
}

// The sentence for ranks that were all seen stopped.
std::string stopped(const Chosen& found, const Records& records) {
  return fmt::format("{} did not go on from {}{}: {} stopped", ranks_text(found),
                     where(least(found), records), waiting(records),
                     found.size() == 1 ? "it was" : "they were");
}

std::string laggard(const Records& records) {
  // Only the ranks that wait can report a rank that stopped; where no rank reports, something else
  // ended all ranks.
  if (std::ranges::none_of(records, has_failed)) return "";
  Chosen found = suspects(records);
  if (found.empty()) return "";
  if (!std::ranges::all_of(found, is_at_the_meeting)) std::erase_if(found, is_at_the_meeting);
  const FlightRecord* culprit = &least(found);
  if (was_stopped(*culprit, records)) return stopped(found, records);
  std::vector<int> alike;
  for (const FlightRecord* const other : found) {
    if (progress(*other) != progress(*culprit)) continue;
    alike.push_back(other->rank);
    if (came_late(*other, *culprit)) culprit = other;
  }
  const bool is_sure = alike.size() == 1 || came_late(*culprit, least(found));
  return fmt::format("{} did not go on from {}{}: {}",
                     is_sure ? fmt::format("rank {}", culprit->rank)
                             : fmt::format("one of ranks {}", fmt::join(alike, ", ")),
                     where(*culprit, records), waiting(records), what_became_of_it(records));
}

// The first failure in time, with causes before their consequences (kAborted).
std::string first_to_give_up(const Records& records) {
  const FlightRecord* const first =
      first_by(those_who(records, has_failed), [](const FlightRecord& record) {
        return std::tuple(record.failure->kind == FailureKind::kAborted, record.failure->at);
      });
  if (first == nullptr) return "";
  return fmt::format("rank {} gave up in {}: {}", first->rank, where(*first, records),
                     first->failure->text);
}

// The text "ranks 2, 3 were lost with node7, in step 12, ...": all other ranks then waited in vain.
std::string lost_with(const std::string& node, const Records& records) {
  const Chosen lost =
      those_who(records, [&](const FlightRecord& record) { return record.host == node; });
  if (node.empty() || lost.empty()) return "";
  return fmt::format("{} {} lost with {}, which its launcher no longer reaches, in {}",
                     ranks_text(lost), lost.size() == 1 ? "was" : "were", node,
                     where(least(lost), records));
}

std::string signalled(const Records& records, const RankEnd& end) {
  const std::string what =
      fmt::format("rank {} was killed ({})", end.rank, signal_name(end.signal));
  const FlightRecord* const record = find(records, end.rank);
  if (record == nullptr) return what + " before its first step";
  return fmt::format("{} in {}{}", what, where(*record, records), waiting(records));
}

// The sentence for a rank that went without a word in its record.
std::string left(const Records& records, const std::optional<RankEnd>& end,
                 const std::string& said) {
  if (!end) return "";
  const FlightRecord* const record = find(records, end->rank);
  const std::string what = fmt::format("rank {} left with exit code {}", end->rank, end->exit_code);
  if (record == nullptr) return fmt::format("{} before its first step: {}", what, said);
  if (record->failure || record->ended) return "";
  return fmt::format("{} in {}{}", what, where(*record, records), waiting(records));
}

}  // namespace

std::string failure_reason(const Records& records, const std::optional<RankEnd>& launcher_says,
                           const std::string& said, const std::string& lost_node) {
  if (std::string reason = lost_with(lost_node, records); !reason.empty()) return reason;
  if (launcher_says && launcher_says->signal != 0) return signalled(records, *launcher_says);
  if (records.empty()) return "";
  if (std::ranges::any_of(records, says_different)) {
    if (std::string reason = divergence(records); !reason.empty()) return reason;
  }
  if (all_say_the_same(records)) {
    if (has_own_error(records.front()) && records.front().place().step == 0) return "";
    return fmt::format("{} (in {})", records.front().failure->text, least_far(records));
  }
  if (std::string reason = own_error(records); !reason.empty()) return reason;
  if (std::string reason = left(records, launcher_says, said); !reason.empty()) return reason;
  if (const int absent = absent_rank(records); absent >= 0) {
    return fmt::format("rank {} never began; {}", absent, first_to_give_up(records));
  }
  if (std::string reason = laggard(records); !reason.empty()) return reason;
  if (std::ranges::none_of(records, has_messages)) {
    if (std::string reason = divergence(records); !reason.empty()) return reason;
  }
  return first_to_give_up(records);
}

// Ranks that are threads of a process all report the same error, whose text names the device.
std::string out_of_memory(const Records& records) {
  const FlightRecord* const first = first_own_error(records);
  if (first == nullptr || first->failure->kind != FailureKind::kOutOfMemory) return "";
  if (first->place().step == 0) return "";
  if (all_say_the_same(records)) {
    return fmt::format("out of memory: in {}: {}", where(least(all_of(records)), records),
                       first->failure->text);
  }
  return fmt::format("out of memory: rank {} in {}: {}", first->rank, where(*first, records),
                     first->failure->text);
}

std::string least_far(const Records& records) {
  if (records.empty()) return "";
  const Chosen all = all_of(records);
  const FlightRecord& behind = least(all);
  return fmt::format("rank {}, {}", behind.rank, where(behind, records));
}

}  // namespace tandem::cli
