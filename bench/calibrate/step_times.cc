// SPDX-License-Identifier: Apache-2.0
#include "bench/calibrate/step_times.h"

#include <atomic>
#include <boost/noncopyable.hpp>
#include <map>
#include <memory>
#include <numeric>
#include <thread>
#include <tuple>
#include <vector>

#include "bench/step/step_work.h"
#include "common/base/error.h"
#include "common/parallel/single.h"
#include "common/runtime/event_pair.h"
#include "common/stats/summary.h"

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

// Sets events around each operation of a step, where it is asked to.
class OperationMarks final : public DetailObserver {
 public:
  OperationMarks(Device& device, const std::vector<StepOperation>& expected) : expected_(expected) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      marks_.push_back({device.make_timed_event(), device.make_timed_event()});
    }
  }

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

  void step_ends(Device& /*device*/, Stream& /*stream*/) override {}

 private:
  struct Pair {
    std::unique_ptr<TimedEvent> begin;
    std::unique_ptr<TimedEvent> end;
  };

  void part_begins(Device& /*device*/, Stream& /*stream*/, std::string_view /*phase*/) override {}
  void work_begins(Device& /*device*/, Stream& stream, const EnqueuedWork& work) override {
    if (work.kind != EnqueuedWork::Kind::kOperation) return;
    TANDEM_CHECK(next_ < expected_.size() && work.name == expected_[next_].name,
                 "{} is enqueued as operation {} of {}", work.name, next_, expected_.size());
    if (is_marking_) stream.record(*marks_[next_].begin);
  }
  void work_ends(Device& /*device*/, Stream& stream, const EnqueuedWork& work) override {
    if (work.kind != EnqueuedWork::Kind::kOperation) return;
    if (is_marking_) stream.record(*marks_[next_].end);
    ++next_;
  }

  const std::vector<StepOperation>& expected_;
  std::vector<Pair> marks_;
  std::size_t next_ = 0;
  bool is_marking_ = false;
};

// Steps of `single` on all devices of a platform but the first, again and again until destroyed,
// each on a thread of its own.
class Neighbours : boost::noncopyable {
 public:
  // Throws an error of kind kOutOfMemory where the model does not fit on the devices.
  Neighbours(Platform& platform, const Model& model, const TrainingOptions& options) {
    for (int i = 1; i < platform.device_count(); ++i) {
      steps_.push_back(std::make_unique<Single>(platform, platform.device(i), model,
                                                Shard{0, options.global_batch}, options));
    }
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      Device& device = platform.device(static_cast<int>(i) + 1);
      threads_.emplace_back([this, &device, &single = *steps_[i]] {
        device.bind_this_thread();
        while (!is_over_) {
          single.step();
          single.synchronize();
          static_cast<void>(single.collect_phases());
        }
      });
    }
  }
  ~Neighbours() {
    is_over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> is_over_{false};
  std::vector<std::unique_ptr<Single>> steps_;
  std::vector<std::thread> threads_;
};

// Null where there is one device, or where the model does not fit on the neighbours.
std::unique_ptr<Neighbours> start_neighbours(Platform* platform, const Model& model,
                                             const TrainingOptions& options) {
  if (platform == nullptr || platform->device_count() == 1) return nullptr;
  std::unique_ptr<Neighbours> neighbours;
  const auto error =
      capture_error([&] { neighbours = std::make_unique<Neighbours>(*platform, model, options); });
  if (error && error->kind() != ErrorKind::kOutOfMemory) throw Error(*error);
  return neighbours;
}

// The samples of all steps.
struct StepSamples {
  std::vector<std::vector<double>> of_operation;  // of steps with events
  std::vector<double> whole;                      // of steps without
  std::vector<double> enqueuing;                  // of these, until all was enqueued
};

double seconds_since(TimePoint start) { return Seconds(Clock::now() - start).count(); }

struct StepTime {
  double whole = 0;
  double enqueuing = 0;
};

StepTime run(Single& single, OperationMarks& marks, Marked marked) {
  const TimePoint start = Clock::now();
  marks.begin(marked);
  single.step();
  marks.end();
  StepTime time{.enqueuing = seconds_since(start)};
  single.synchronize();
  time.whole = seconds_since(start);
  return time;
}

// Samples of steps of `single`, which `marks` observes.
StepSamples take_samples(Single& single, OperationMarks& marks) {
  StepSamples samples;
  samples.of_operation.resize(marks.operations());
  const TimePoint start = Clock::now();
  for (int i = 0; i < kWarmupSteps || Clock::now() - start < kWarmupTime; ++i) {
    static_cast<void>(run(single, marks, Marked::kNo));
  }
  const TimePoint begin = Clock::now();
  for (int i = 0; i < kLeastPairs || (i < kMostPairs && Clock::now() - begin < kTime); ++i) {
    static_cast<void>(run(single, marks, Marked::kYes));
    for (std::size_t op = 0; op < samples.of_operation.size(); ++op) {
      samples.of_operation[op].push_back(marks.seconds(op));
    }
    const StepTime whole = run(single, marks, Marked::kNo);
    samples.whole.push_back(whole.whole);
    samples.enqueuing.push_back(whole.enqueuing);
    static_cast<void>(single.collect_phases());
  }
  return samples;
}

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

// Operations of one key and of equal work are one point, with a time for each occurrence: in steps
// of a device alone, and beside others; `beside` is empty where there are none.
void add_operations(MeasuredModel& model, const std::vector<StepOperation>& operations,
                    const std::vector<double>& alone, const std::vector<double>& beside,
                    std::int64_t batch) {
  std::map<std::tuple<std::string, double, std::int64_t>, std::size_t> places;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const StepOperation& one = operations[i];
    auto& points = model.operations[one.key];
    const auto [place, is_new] =
        places.try_emplace({one.key, one.work.flops, one.work.moved.value}, points.size());
    if (is_new) {
      points.push_back({.batch = batch, .flops = one.work.flops, .bytes = one.work.moved.value});
      if (!beside.empty()) points.back().beside_others.emplace();
    }
    MeasuredPoint& point = points[place->second];
    point.seconds.push_back(alone[i]);
    if (!beside.empty()) point.beside_others->push_back(beside[i]);
  }
}

MeasuredBatch figures_of(const StepSamples& samples, std::int64_t batch) {
  return {.batch = batch,
          .step_seconds = stats::median(samples.whole),
          .lower_seconds = stats::percentile(samples.whole, 25),
          .upper_seconds = stats::percentile(samples.whole, 75),
          .steps = static_cast<int>(samples.whole.size())};
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
  TrainingOptions watched = options;
  watched.phases.observers.push_back(&marks);
  Single single(on.platform, on.device, model, {0, batch}, watched);

  const StepSamples samples = take_samples(single, marks);
  CalibratedStep times;
  times.enqueue_seconds = stats::median(samples.enqueuing);
  times.calls = static_cast<int>(operations.size()) + kPhaseMarks + kInputCopies;
  const double copies = time_of_copies(on, model, options);
  const auto of_operations = [&](const StepSamples& steps) {
    return scaled_times(steps, stats::median(steps.whole) - copies);
  };

  MeasuredBatch measured = figures_of(samples, batch);
  std::vector<double> of_beside;
  if (const auto neighbours = start_neighbours(on.neighbours, model, options)) {
    const StepSamples beside = take_samples(single, marks);
    measured.beside_others = stats::median(beside.whole);
    of_beside = of_operations(beside);
  }
  times.measured.batches.push_back(measured);
  add_operations(times.measured, operations, of_operations(samples), of_beside, batch);
  return times;
}

}  // namespace tandem::bench
