// SPDX-License-Identifier: Apache-2.0
#include "common/timeline/clocks.h"

#include <gtest/gtest.h>

#include <chrono>

namespace tandem::timeline {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Two ranks, played by one: a true time that messages take, and a clock of the second rank's own.
class TwoRanks {
 public:
  TwoRanks(Nanoseconds ahead, double drift) : ahead_(ahead), drift_(drift) {}

  // On the second rank's clock.
  [[nodiscard]] Nanoseconds own(Nanoseconds time) const {
    return time + ahead_ +
           Nanoseconds{static_cast<std::int64_t>(drift_ * static_cast<double>(time.count()))};
  }

  // The second rank's reading. The first one's clock is the true time; it answers `there` after the
  // question, and the answer takes `back`.
  ClockReading read(Nanoseconds there, Nanoseconds back) {
    int exchange = 0;
    const auto gather = [&](double mine) {
      const bool is_question = exchange++ % 2 == 0;
      time_ += is_question ? there : back;
      return std::vector<double>{is_question ? 0.0 : static_cast<double>((time_ - back).count()),
                                 mine};
    };
    return read_clock(
        gather, [this] { return own(time_); }, 5);
  }

  void pass(Nanoseconds time) { time_ += time; }
  [[nodiscard]] Nanoseconds time() const { return time_; }

 private:
  const Nanoseconds ahead_;
  const double drift_;
  Nanoseconds time_ = seconds(100);
};

Nanoseconds off_by(const TwoRanks& ranks, const ClockFit& fit, Nanoseconds time) {
  const Nanoseconds off = fit.on_rank_0(ranks.own(time)) - time;
  return off < Nanoseconds{0} ? -off : off;
}

TEST(Clocks, EvenTrips_TellTheClockExactly) {
  TwoRanks ranks(hours(5), 0);
  const ClockReading reading = ranks.read(microseconds(40), microseconds(40));
  EXPECT_EQ(reading.ahead, -Nanoseconds(hours(5)));
  EXPECT_EQ(reading.error, microseconds(40));
}

// However uneven the way, the truth is within the bound.
TEST(Clocks, SkewedAndDrifting_AreWithinTheBound) {
  for (const auto& [there, back] : {std::pair{40, 40}, std::pair{90, 10}, std::pair{1, 99}}) {
    TwoRanks ranks(-milliseconds(700), 20e-6);
    const ClockReading before = ranks.read(microseconds(there), microseconds(back));
    const Nanoseconds from = ranks.time();
    ranks.pass(seconds(10));
    const ClockReading after = ranks.read(microseconds(there), microseconds(back));
    const ClockFit fit(before, after);
    EXPECT_NEAR(fit.drift(), -20e-6, 1e-7);
    EXPECT_LE(fit.error(), microseconds(51));
    for (int i = 0; i <= 10; ++i) {
      EXPECT_LE(off_by(ranks, fit, from + seconds(i)), fit.error()) << there << ' ' << i;
    }
  }
}

// A clock that is taken to go evenly with rank 0's, and does not, is off by more.
TEST(Clocks, DriftThatIsLeftOut_IsBeyondTheBound) {
  TwoRanks ranks(seconds(1), 20e-6);
  const ClockReading before = ranks.read(microseconds(40), microseconds(40));
  ranks.pass(seconds(10));
  EXPECT_GT(off_by(ranks, ClockFit(before, before), ranks.time()), microseconds(100));
}

TEST(Clocks, TheShortestTripCounts) {
  const ClockReading best = best_of({{Nanoseconds{0}, Nanoseconds{900}, Nanoseconds{1000}},
                                     {Nanoseconds{2000}, Nanoseconds{2511}, Nanoseconds{2020}},
                                     {Nanoseconds{3000}, Nanoseconds{3700}, Nanoseconds{3400}}});
  EXPECT_EQ(best.own, Nanoseconds{2010});
  EXPECT_EQ(best.ahead, Nanoseconds{501});
  EXPECT_EQ(best.error, Nanoseconds{10});
}

TEST(Clocks, OfOneNode_AreOne) {
  const ClockFit same;
  EXPECT_EQ(same.on_rank_0(seconds(7)), seconds(7));
  EXPECT_EQ(same.error(), Nanoseconds{0});
}

}  // namespace
}  // namespace tandem::timeline
