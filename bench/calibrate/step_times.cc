// SPDX-License-Identifier: Apache-2.0
#include "bench/calibrate/step_times.h"

#include <atomic>
#include <map>
#include <memory>
#include <numeric>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/workloads/step_work.h"
#include "common/base/error.h"
#include "common/parallel/single.h"
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

// Sets events around each operation of a step, where it is told to.
class OperationMarks final : public DetailObserver {
 public:
  OperationMarks(Device& device, const std::vector<StepOperation>& expected) : expected_(expected) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      marks_.push_back({device.make_timed_event(), device.make_timed_event()});
    }
  }

  // The next step has events around its operations.
  void begin() {
    is_marking_ = true;
    next_ = 0;
  }
  void end() {
    is_marking_ = false;
    TANDEM_CHECK(next_ == expected_.size(), "{} operations in a step, and {} counted", next_,
                 expected_.size());
  }

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
    if (!is_marked(work)) return;
    TANDEM_CHECK(next_ < expected_.size() && work.name == expected_[next_].name,
                 "{} is enqueued as operation {} of {}", work.name, next_, expected_.size());
    stream.record(*marks_[next_].begin);
  }
  void work_ends(Device& /*device*/, Stream& stream, const EnqueuedWork& work) override {
    if (is_marked(work)) stream.record(*marks_[next_++].end);
  }
  [[nodiscard]] bool is_marked(const EnqueuedWork& work) const {
    return is_marking_ && work.kind == EnqueuedWork::Kind::kOperation;
  }

  const std::vector<StepOperation>& expected_;
  std::vector<Pair> marks_;
  std::size_t next_ = 0;
  bool is_marking_ = false;
};

// The samples of all steps.
struct StepSamples {
  std::vector<std::vector<double>> of_operation;  // of steps with events
  std::vector<double> whole;                      // of steps without
  std::vector<double> enqueuing;                  // of these, until all was enqueued
};

double seconds_since(TimePoint start) { return Seconds(Clock::now() - start).count(); }

void run_marked(Single& single, OperationMarks& marks, StepSamples& samples) {
  marks.begin();
  single.step();
  marks.end();
  single.synchronize();
  for (std::size_t i = 0; i < samples.of_operation.size(); ++i) {
    samples.of_operation[i].push_back(marks.seconds(i));
  }
}

void run_whole(Single& single, StepSamples& samples) {
  const TimePoint start = Clock::now();
  single.step();
  samples.enqueuing.push_back(seconds_since(start));
  single.synchronize();
  samples.whole.push_back(seconds_since(start));
}

StepSamples sample_steps(Single& single, OperationMarks& marks, std::size_t operations) {
  StepSamples samples;
  samples.of_operation.resize(operations);
  const TimePoint start = Clock::now();
  for (int i = 0; i < kWarmupSteps || Clock::now() - start < kWarmupTime; ++i) {
    single.step();
    single.synchronize();
  }
  const TimePoint begin = Clock::now();
  for (int i = 0; i < kLeastPairs || (i < kMostPairs && Clock::now() - begin < kTime); ++i) {
    run_marked(single, marks, samples);
    run_whole(single, samples);
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

// Operations of one key and of equal work are one point, with a time for each occurrence. `beside`
// is as long as `alone`, or empty.
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

// Steps of `single` on all devices of a platform but the first, again and again until destroyed.
class BusyNeighbours {
 public:
  BusyNeighbours(Platform& platform, const Model& model, const TrainingOptions& options) {
    for (int i = 1; i < platform.device_count(); ++i) {
      Device& device = platform.device(i);
      steps_.push_back(std::make_unique<Single>(platform, device, model,
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
  ~BusyNeighbours() {
    is_over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  BusyNeighbours(const BusyNeighbours&) = delete;
  BusyNeighbours& operator=(const BusyNeighbours&) = delete;

 private:
  std::atomic<bool> is_over_{false};
  std::vector<std::unique_ptr<Single>> steps_;
  std::vector<std::thread> threads_;
};

// Nothing where the model does not fit on the neighbours.
std::unique_ptr<BusyNeighbours> start_neighbours(Platform* platform, const Model& model,
                                                 const TrainingOptions& options) {
  if (platform == nullptr || platform->device_count() == 1) return nullptr;
  std::unique_ptr<BusyNeighbours> neighbours;
  const auto error = capture_error(
      [&] { neighbours = std::make_unique<BusyNeighbours>(*platform, model, options); });
  if (error && error->kind() != ErrorKind::kOutOfMemory) throw Error(*error);
  return neighbours;
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
  const double copies = time_of_copies(on, model, options);

  const StepSamples samples = sample_steps(single, marks, operations.size());
  const double step = stats::median(samples.whole);
  MeasuredBatch measured{.batch = batch,
                         .step_seconds = step,
                         .lower_seconds = stats::percentile(samples.whole, 25),
                         .upper_seconds = stats::percentile(samples.whole, 75),
                         .steps = static_cast<int>(samples.whole.size())};
  std::vector<double> beside;
  if (const auto neighbours = start_neighbours(on.neighbours, model, options)) {
    const StepSamples crowded = sample_steps(single, marks, operations.size());
    measured.beside_others = stats::median(crowded.whole);
    beside = scaled_times(crowded, *measured.beside_others - copies);
  }
  CalibratedStep times;
  times.measured.batches.push_back(measured);
  add_operations(times.measured, operations, scaled_times(samples, step - copies), beside, batch);
  times.enqueue_seconds = stats::median(samples.enqueuing);
  times.calls = static_cast<int>(operations.size()) + kPhaseMarks + kInputCopies;
  return times;
}

}  // namespace tandem::bench
