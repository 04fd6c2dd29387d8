// SPDX-License-Identifier: Apache-2.0
#include "bench/calibrate/step_times.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/calibrate/neighbours.h"
#include "bench/step/step_work.h"
#include "common/base/error.h"
#include "common/parallel/single.h"
#include "common/runtime/event_pair.h"
#include "common/stats/summary.h"
#include "simulate/cost/operation_costs.h"

namespace tandem::bench {
namespace {

constexpr int kWarmupSteps = 5;
constexpr int kLeastPairs = 12;  // of a step with events and one without
constexpr int kMostPairs = 500;
constexpr Nanoseconds kWarmupTime = std::chrono::milliseconds(200);
constexpr Nanoseconds kTime = std::chrono::milliseconds(1000);
constexpr int kPhaseMarks = 6;  // events of a step of `single` beside the operations
constexpr int kInputCopies = 2;

enum class Marked { kNo, kYes };

// Sets events around each operation of a step, where it is told to, and lets an exchange take place
// before the last operation, the update.
class OperationMarks final : public DetailObserver {
 public:
  OperationMarks(Device& device, const std::vector<StepOperation>& expected) : expected_(expected) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      marks_.push_back({device.make_timed_event(), device.make_timed_event()});
    }
  }

  // Null: no exchange.
  void set_exchange(Exchange* exchange) { exchange_ = exchange; }

  // A step begins, with events around its operations or without.
  void begin(Marked marked) {
    is_marking_ = marked == Marked::kYes;
    next_ = 0;
  }
  void end() const {
    TANDEM_CHECK(next_ == expected_.size(), "{} operations in a step, and {} counted", next_,
                 expected_.size());
  }

  [[nodiscard]] std::size_t operations() const { return expected_.size(); }
  [[nodiscard]] double seconds(std::size_t operation) const {
    const Pair& pair = marks_[operation];
    return Seconds(*pair.end - *pair.begin).count();
  }
  // What the exchange added to the last step.
  [[nodiscard]] double exchange_seconds() const {
    return exchange_ == nullptr ? 0 : exchange_->seconds();
  }

  void step_ends(Device& /*device*/, Stream& /*stream*/) override {}

 private:
  struct Pair {
    std::unique_ptr<TimedEvent> begin;
    std::unique_ptr<TimedEvent> end;
  };

  void part_begins(Device& /*device*/, Stream& /*stream*/, std::string_view /*phase*/) override {}
  void work_begins(Device& /*device*/, Stream& stream, const EnqueuedWork& work) override {
    if (is_exchanged_ || work.kind != EnqueuedWork::Kind::kOperation) return;
    TANDEM_CHECK(next_ < expected_.size() && work.name == expected_[next_].name,
                 "{} is enqueued as operation {} of {}", work.name, next_, expected_.size());
    if (exchange_ != nullptr && next_ + 1 == expected_.size()) exchange_before_update(stream);
    if (is_marking_) stream.record(*marks_[next_].begin);
  }
  void work_ends(Device& /*device*/, Stream& stream, const EnqueuedWork& work) override {
    if (is_exchanged_ || work.kind != EnqueuedWork::Kind::kOperation) return;
    if (is_marking_) stream.record(*marks_[next_].end);
    ++next_;
  }
  // The exchange's own copy is no operation of the step.
  void exchange_before_update(Stream& stream) {
    is_exchanged_ = true;
    exchange_->enqueue(stream);
    is_exchanged_ = false;
  }

  const std::vector<StepOperation>& expected_;
  std::vector<Pair> marks_;
  Exchange* exchange_ = nullptr;
  std::size_t next_ = 0;
  bool is_marking_ = false;
  bool is_exchanged_ = false;  // now
};

// The samples of all steps.
struct StepSamples {
  std::vector<std::vector<double>> of_operation;  // of steps with events
  std::vector<double> whole;                      // of steps without
  std::vector<double> slowest;                    // the slowest device's, where all go in step
  std::vector<double> enqueuing;                  // of these, until all was enqueued
};

double seconds_since(TimePoint start) { return Seconds(Clock::now() - start).count(); }

// Runs steps of `single` and takes samples of them.
class Sampling {
 public:
  // `in_step`: the neighbours that go in step with this device; null: none. Both observers are the
  // step's.
  Sampling(Single& single, OperationMarks& marks, HeldStart& start, Neighbours* in_step)
      : single_(single), marks_(marks), start_(start), in_step_(in_step) {
    samples_.of_operation.resize(marks.operations());
  }

  StepSamples take() {
    const TimePoint start = Clock::now();
    for (int i = 0; i < kWarmupSteps || Clock::now() - start < kWarmupTime; ++i) {
      static_cast<void>(run(Marked::kNo));
    }
    const TimePoint begin = Clock::now();
    for (int i = 0; i < kLeastPairs || (i < kMostPairs && Clock::now() - begin < kTime); ++i) {
      static_cast<void>(run(Marked::kYes));
      for (std::size_t op = 0; op < samples_.of_operation.size(); ++op) {
        samples_.of_operation[op].push_back(marks_.seconds(op));
      }
      const StepTime whole = run(Marked::kNo);
      samples_.whole.push_back(whole.own);
      samples_.slowest.push_back(whole.slowest);
      samples_.enqueuing.push_back(whole.enqueuing);
      static_cast<void>(single_.collect_phases());
    }
    return std::move(samples_);
  }

 private:
  struct StepTime {
    double own = 0;
    double slowest = 0;
    double enqueuing = 0;
  };

  StepTime run(Marked marked) {
    if (in_step_ != nullptr) {
      in_step_->begin_step();
      start_.hold();
    }
    const TimePoint start = Clock::now();
    StepTime time;
    start_.run([&] {
      marks_.begin(marked);
      single_.step();
      marks_.end();
      time.enqueuing = seconds_since(start);
    });
    single_.synchronize();
    time.own = seconds_since(start) - marks_.exchange_seconds();
    time.slowest = in_step_ == nullptr ? time.own : std::max(time.own, in_step_->end_step());
    return time;
  }

  Single& single_;
  OperationMarks& marks_;
  HeldStart& start_;
  Neighbours* const in_step_;
  StepSamples samples_{};
};

// The median time of each operation, scaled so that all add up to `sum`.
std::vector<double> scaled_times(const StepSamples& samples, double sum) {
  std::vector<double> seconds;
  for (const auto& one : samples.of_operation) seconds.push_back(stats::median(one));
  const double all = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  if (all > 0 && sum > 0) {
    for (double& one : seconds) one *= sum / all;
  }
  return seconds;
}

// The times of each operation in steps of a device alone, beside others, and with exchanges; the
// last two are empty where there are no others.
struct OperationTimes {
  std::vector<double> alone;
  std::vector<double> beside{};
  std::vector<double> exchanging{};
};

// Operations of one key and of equal work are one point, with a time for each occurrence.
void add_operations(MeasuredModel& model, const std::vector<StepOperation>& operations,
                    const OperationTimes& times, std::int64_t batch) {
  const bool has_others = !times.beside.empty();
  std::map<std::tuple<std::string, double, std::int64_t>, std::size_t> places;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const StepOperation& one = operations[i];
    auto& points = model.operations[one.key];
    const auto [place, is_new] =
        places.try_emplace({one.key, one.work.flops, one.work.moved.value}, points.size());
    if (is_new) {
      points.push_back({.batch = batch, .flops = one.work.flops, .bytes = one.work.moved.value});
      if (has_others) {
        points.back().beside_others.emplace();
        points.back().exchanging.emplace();
      }
    }
    MeasuredPoint& point = points[place->second];
    point.seconds.push_back(times.alone[i]);
    if (!has_others) continue;
    point.beside_others->push_back(times.beside[i]);
    point.exchanging->push_back(times.exchanging[i]);
  }
}

MeasuredBatch figures_of(const StepSamples& samples, std::int64_t batch) {
  return {.batch = batch,
          .step_seconds = stats::median(samples.whole),
          .lower_seconds = stats::percentile(samples.whole, 25),
          .upper_seconds = stats::percentile(samples.whole, 75),
          .steps = static_cast<int>(samples.whole.size())};
}

// The standard deviation of a device's steps, as a share of their median, that makes the slowest of
// as many devices as late as it is.
double scatter_of(const StepSamples& in_step, int devices) {
  const double late = stats::median(in_step.slowest) / stats::median(in_step.whole) - 1;
  return std::max(0.0, late) / expected_largest(devices);
}

double time_of_copies(const TimedDevice& on, const Model& model, const TrainingOptions& options) {
  const Bytes input = bytes_of<float>(options.global_batch *
                                      (model.input_width() + model.objective().target_width));
  return kInputCopies * on.copy_latency + static_cast<double>(input.value) / on.copy_bandwidth;
}

}  // namespace

CalibratedStep time_step(const TimedDevice& on, const Model& model,
                         const TrainingOptions& options) {
  const std::int64_t batch = options.global_batch;
  const std::vector<StepOperation> operations =
      list_step(model, batch, options.precision, options.optimizer);
  OperationMarks marks(on.device, operations);
  HeldStart start;
  TrainingOptions watched = options;
  watched.phases.observers.push_back(&marks);
  watched.phases.observers.push_back(&start);
  Single single(on.platform, on.device, model, {0, batch}, watched);

  const StepSamples samples = Sampling(single, marks, start, nullptr).take();
  CalibratedStep times;
  times.enqueue_seconds = stats::median(samples.enqueuing);
  times.calls = static_cast<int>(operations.size()) + kPhaseMarks + kInputCopies;
  const double copies = time_of_copies(on, model, options);
  const auto of_operations = [&](const StepSamples& steps) {
    return scaled_times(steps, stats::median(steps.whole) - copies);
  };

  MeasuredBatch measured = figures_of(samples, batch);
  OperationTimes of_step{.alone = of_operations(samples)};
  if (const auto neighbours = start_neighbours(on.neighbours, model, options)) {
    const StepSamples beside = Sampling(single, marks, start, nullptr).take();
    measured.beside_others = stats::median(beside.whole);
    of_step.beside = of_operations(beside);
    Exchange exchange(on.device, model);
    marks.set_exchange(&exchange);
    neighbours->go_in_step();
    const StepSamples exchanging = Sampling(single, marks, start, neighbours.get()).take();
    measured.exchanging = stats::median(exchanging.whole);
    measured.scatter = scatter_of(exchanging, neighbours->devices());
    of_step.exchanging = of_operations(exchanging);
  }
  times.measured.batches.push_back(measured);
  add_operations(times.measured, operations, of_step, batch);
  return times;
}

}  // namespace tandem::bench
