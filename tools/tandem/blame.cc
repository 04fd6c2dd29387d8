// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/blame.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "common/base/units.h"
#include "tools/tandem/signal_name.h"

namespace tandem::cli {
namespace {

using Records = std::vector<FlightRecord>;

const FlightRecord* find(const Records& records, int rank) {
  const auto found =
      std::find_if(records.begin(), records.end(), [&](const auto& r) { return r.rank == rank; });
  return found == records.end() ? nullptr : &*found;
}

// The collective of that number, from whoever came to it.
const FlightRecord::Collective* known(const Records& records, std::uint64_t sequence) {
  for (const FlightRecord& record : records) {
    if (const auto* const collective = record.find(sequence)) return collective;
  }
  return nullptr;
}

// "step 12, phase backward, in all_reduce #35 (4.0 MiB)".
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

// Time that the one who waited longest was in a collective when it gave up.
std::string waiting(const Records& records) {
  const FlightRecord* longest = nullptr;
  std::int64_t most = 0;
  for (const FlightRecord& record : records) {
    const auto* const collective = record.in_hand();
    if (!record.failure || !record.failure->is_consequence || collective == nullptr) continue;
    const std::int64_t waited = record.failure->at - collective->started;
    if (waited <= most) continue;
    longest = &record;
    most = waited;
  }
  if (longest == nullptr) return "";
  return fmt::format("; rank {} waited {} for it", longest->rank,
                     to_string(Seconds(Nanoseconds(most))));
}

bool has_own_error(const FlightRecord& record) {
  return record.failure && !record.failure->is_consequence;
}

// One process that holds all ranks as threads says the same of each of them, and so do ranks that
// met a failure together.
bool all_say_the_same(const Records& records) {
  if (static_cast<int>(records.size()) != records.front().world) return false;
  return std::all_of(records.begin(), records.end(), [&](const FlightRecord& record) {
    return record.failure && record.failure->text == records.front().failure->text;
  });
}

auto progress(const FlightRecord& record) {
  return std::tuple(record.place().step, record.finished, record.started);
}

// Came so much later to the collective that both are in that it must have been away.
bool came_late(const FlightRecord& record, const FlightRecord& other) {
  constexpr std::int64_t kAway = 100'000'000;  // nanoseconds
  const auto* const mine = record.in_hand();
  const auto* const theirs = other.in_hand();
  return mine != nullptr && theirs != nullptr && mine->started > theirs->started + kAway;
}

const FlightRecord& least(const std::vector<const FlightRecord*>& records) {
  return **std::min_element(records.begin(), records.end(), [](const auto* a, const auto* b) {
    return progress(*a) < progress(*b);
  });
}

bool is_same(const FlightRecord::Collective& a, const FlightRecord::Collective& b) {
  return a.name == b.name && a.bytes == b.bytes;
}

// A communicator's word for it. Numbers alone would not tell: ranks of uneven parts, or that send
// and receive, go through different calls by the same numbers.
bool says_different(const FlightRecord& record) {
  if (!record.failure) return false;
  const std::string& text = record.failure->text;
  return text.find("different collectives") != std::string::npos ||
         text.find("must enqueue the same") != std::string::npos;  // as MPI and gloo notice it
}

// Two ranks in the collective of one number, but not in the same one.
std::string divergence(const Records& records) {
  if (std::none_of(records.begin(), records.end(), says_different)) return "";
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

// The first in time.
std::string own_error(const Records& records) {
  const FlightRecord* first = nullptr;
  for (const FlightRecord& record : records) {
    if (!has_own_error(record)) continue;
    if (first == nullptr || record.failure->at < first->failure->at) first = &record;
  }
  if (first == nullptr) return "";
  return fmt::format("rank {} failed in {}: {}", first->rank, where(*first, records),
                     first->failure->text);
}

// A rank of the world that left no record.
int absent_rank(const Records& records) {
  for (int rank = 0; rank < records.front().world; ++rank) {
    if (find(records, rank) == nullptr) return rank;
  }
  return -1;
}

constexpr std::string_view kFor = " for rank ";  // "rank 0 waited 3 s for rank 1, which ..."

// Words of a rank that gave up after its own patience, not because another rank had.
bool tells_of_waiting(const std::string& text) {
  return text.find(" waited ") != std::string::npos;
}

bool waited_in_vain(const FlightRecord& record) {
  return record.failure && tells_of_waiting(record.failure->text);
}

// The rank that those who gave up say they waited for; -1 where they do not agree.
int awaited_rank(const Records& records) {
  int awaited = -1;
  for (const FlightRecord& record : records) {
    if (!record.failure) continue;
    const std::size_t at = record.failure->text.find(kFor);
    if (at == std::string::npos) continue;
    const int rank = std::atoi(record.failure->text.c_str() + at + kFor.size());
    if (awaited >= 0 && awaited != rank) return -1;
    awaited = rank;
  }
  return awaited;
}

// Before the first step, where ranks wait for all others (bench's stage of that name): who is there
// is not who is awaited.
bool is_at_the_meeting(const FlightRecord* record) {
  return record->place().step == 0 && record->place().phase == "meet";
}

// `gave_up`: a rank that left while it waited, too late for its record; -1: none.
std::string laggard(const Records& records, int gave_up) {
  std::vector<const FlightRecord*> silent;
  for (const FlightRecord& record : records) {
    // One that was stopped goes on once the job is ended, and then sees that the others gave up.
    if (record.rank == gave_up || waited_in_vain(record) || record.ended) continue;
    silent.push_back(&record);
  }
  if (silent.empty()) return "";
  if (!std::all_of(silent.begin(), silent.end(), is_at_the_meeting)) {
    std::erase_if(silent, is_at_the_meeting);
  }
  const FlightRecord* culprit = &least(silent);
  // Others of them may merely have been told to end before their own patience did.
  const FlightRecord* const awaited = find(records, awaited_rank(records));
  std::vector<int> alike;
  for (const FlightRecord* const other : silent) {
    if (progress(*other) != progress(*culprit)) continue;
    alike.push_back(other->rank);
    if (came_late(*other, *culprit)) culprit = other;
  }
  if (awaited != nullptr && progress(*awaited) == progress(*culprit)) culprit = awaited;
  const bool is_sure =
      awaited == culprit || alike.size() == 1 || came_late(*culprit, least(silent));
  return fmt::format("{} did not go on from {}{}: it was stopped, or late",
                     is_sure ? fmt::format("rank {}", culprit->rank)
                             : fmt::format("one of ranks {}", fmt::join(alike, ", ")),
                     where(*culprit, records), waiting(records));
}

std::string first_to_give_up(const Records& records) {
  const FlightRecord* first = nullptr;
  for (const FlightRecord& record : records) {
    if (!record.failure) continue;
    if (first == nullptr || record.failure->at < first->failure->at) first = &record;
  }
  if (first == nullptr) return "";
  return fmt::format("rank {} gave up in {}: {}", first->rank, where(*first, records),
                     first->failure->text);
}

// "ranks 2, 3 were lost with node7, in step 12, ...": all others then waited for them in vain.
std::string lost_with(const std::string& node, const Records& records) {
  std::vector<const FlightRecord*> lost;
  std::vector<int> ranks;
  for (const FlightRecord& record : records) {
    if (record.host != node) continue;
    lost.push_back(&record);
    ranks.push_back(record.rank);
  }
  if (node.empty() || lost.empty()) return "";
  return fmt::format("{} lost with {}, which its launcher no longer reaches, in {}",
                     ranks.size() == 1 ? fmt::format("rank {} was", ranks.front())
                                       : fmt::format("ranks {} were", fmt::join(ranks, ", ")),
                     node, where(least(lost), records));
}

std::string signalled(const Records& records, const RankEnd& end) {
  const std::string what =
      fmt::format("rank {} was killed ({})", end.rank, signal_name(end.signal));
  const FlightRecord* const record = find(records, end.rank);
  if (record == nullptr) return what + " before its first step";
  return fmt::format("{} in {}{}", what, where(*record, records), waiting(records));
}

// A rank that went without a word in its record.
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

std::string blame(const Records& records, const std::optional<RankEnd>& launcher_says,
                  const std::string& said, const std::string& lost_node) {
  if (std::string reason = lost_with(lost_node, records); !reason.empty()) return reason;
  if (launcher_says && launcher_says->signal != 0) return signalled(records, *launcher_says);
  if (records.empty()) return "";
  if (std::string reason = divergence(records); !reason.empty()) return reason;
  if (all_say_the_same(records)) {
    if (has_own_error(records.front()) && records.front().place().step == 0) return "";
    return fmt::format("{} (in {})", records.front().failure->text, least_far(records));
  }
  if (std::string reason = own_error(records); !reason.empty()) return reason;
  // A transport that cannot be interrupted ends the process of a rank that waited in vain.
  const bool gave_up = launcher_says && tells_of_waiting(said);
  if (std::string reason = gave_up ? "" : left(records, launcher_says, said); !reason.empty()) {
    return reason;
  }
  if (const int absent = absent_rank(records); absent >= 0) {
    return fmt::format("rank {} never began; {}", absent, first_to_give_up(records));
  }
  if (std::string reason = laggard(records, gave_up ? launcher_says->rank : -1); !reason.empty())
    return reason;
  return first_to_give_up(records);
}

std::string least_far(const Records& records) {
  if (records.empty()) return "";
  std::vector<const FlightRecord*> all;
  for (const FlightRecord& record : records) all.push_back(&record);
  const FlightRecord& behind = least(all);
  return fmt::format("rank {}, {}", behind.rank, where(behind, records));
}

}  // namespace tandem::cli
