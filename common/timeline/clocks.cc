// SPDX-License-Identifier: Apache-2.0
#include "common/timeline/clocks.h"

#include <algorithm>
#include <cmath>

#include "common/base/error.h"

namespace tandem::timeline {

namespace {

double ticks(Nanoseconds time) { return static_cast<double>(time.count()); }

}  // namespace

ClockReading best_of(const std::vector<RoundTrip>& trips) {
  TANDEM_CHECK(!trips.empty(), "clocks compared without a round trip");
  const auto length = [](const RoundTrip& trip) { return trip.heard - trip.asked; };
  const RoundTrip& best = *std::ranges::min_element(trips, {}, length);
  const Nanoseconds middle = best.asked + length(best) / 2;
  return {
      .own = middle, .ahead = best.answered - middle, .error = (length(best) + Nanoseconds{1}) / 2};
}

// The first exchange is the question: no rank has its answer before rank 0 has all questions, and
// rank 0 reads its clock only then, for the second exchange.
ClockReading read_clock(const GatherNumbers& gather, const std::function<Nanoseconds()>& now,
                        int trips) {
  std::vector<RoundTrip> all;
  for (int i = 0; i < trips; ++i) {
    RoundTrip trip;
    trip.asked = now();
    static_cast<void>(gather(ticks(trip.asked)));
    const Nanoseconds mine = now();
    trip.answered = Nanoseconds{std::llround(gather(ticks(mine)).front())};
    trip.heard = now();
    all.push_back(trip);
  }
  return best_of(all);
}

ClockFit::ClockFit(const ClockReading& before, const ClockReading& after)
    : from_(before.own), ahead_(before.ahead), error_(std::max(before.error, after.error)) {
  if (after.own <= before.own) return;
  drift_ = ticks(after.ahead - before.ahead) / ticks(after.own - before.own);
}

Nanoseconds ClockFit::on_rank_0(Nanoseconds own) const {
  return own + ahead_ + Nanoseconds{std::llround(drift_ * ticks(own - from_))};
}

namespace {

struct Participant {
  int rank = 0;
  int device = 0;
  Slice* slice = nullptr;
};

void meet(const std::vector<Participant>& all) {
  const auto arrived = [](const Participant& one) { return one.slice->begin; };
  const Participant& first = *std::ranges::min_element(all, {}, arrived);
  const Participant& last = *std::ranges::max_element(all, {}, arrived);
  const Nanoseconds end = arrived(last);
  const Nanoseconds skew = end - arrived(first);
  for (const Participant& one : all) {
    one.slice->arrival = Arrival{skew, end - arrived(one), last.rank, last.device};
  }
}

}  // namespace

void align(Process& process, const ClockFit& clock) {
  for (Track& track : process.tracks) {
    for (Slice& slice : track.slices) {
      slice.begin = clock.on_rank_0(slice.begin);
      slice.end = clock.on_rank_0(slice.end);
    }
  }
  for (Bucket& bucket : process.buckets) {
    if (bucket.ready) bucket.ready = clock.on_rank_0(*bucket.ready);
    if (bucket.back) bucket.back = clock.on_rank_0(*bucket.back);
  }
  process.clock_offset = clock.offset();
  process.clock_drift = clock.drift();
  process.clock_error += clock.error();
}

void match_collectives(Trace& trace) {
  std::map<int, std::vector<Participant>> by_sequence;
  for (Process& process : trace.processes) {
    for (Track& track : process.tracks) {
      for (Slice& slice : track.slices) {
        if (slice.kind != SliceKind::kCollective) continue;
        by_sequence[slice.sequence].push_back({process.rank, track.device, &slice});
      }
    }
  }
  for (const auto& [sequence, all] : by_sequence) {
    const std::string& name = all.front().slice->name;
    const auto is_same = [&](const Participant& one) { return one.slice->name == name; };
    if (std::ranges::all_of(all, is_same)) meet(all);
  }
}

}  // namespace tandem::timeline
