// SPDX-License-Identifier: Apache-2.0
#include "bench/workloads/layer_times.h"

#include <array>
#include <numeric>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/stats/summary.h"

namespace tandem::bench {
namespace {

constexpr int kWarmupSteps = 3;
constexpr int kLeastSteps = 7;
constexpr int kMostSteps = 60;  // steps with marks, and as many without marks
constexpr Nanoseconds kTime =
    std::chrono::milliseconds(500);  // more than the least steps until then

// The marks at the ends of one pass's layers, in the order in which the pass goes through the
// layers.
class PassMarks {
 public:
  PassMarks(Device& device, std::vector<std::int64_t> operations)
      : operations_(std::move(operations)) {
    for (std::size_t i = 0; i <= operations_.size(); ++i) {
      marks_.push_back(device.make_timed_event());
    }
  }

  void begin(Stream& stream) {
    layer_ = 0;
    left_ = operations_.front();
    stream.record(*marks_.front());
  }

  void before_operation(Stream& stream) {
    while (left_ == 0 && layer_ + 1 < operations_.size()) end_layer(stream);
    --left_;
  }

  void end(Stream& stream) {
    while (layer_ < operations_.size()) end_layer(stream);
  }

  [[nodiscard]] double seconds(std::size_t layer) const {
    return Seconds(*marks_[layer + 1] - *marks_[layer]).count();
  }

 private:
  void end_layer(Stream& stream) {
    stream.record(*marks_[++layer_]);
    if (layer_ < operations_.size()) left_ = operations_[layer_];
  }

  const std::vector<std::int64_t> operations_;
  std::vector<std::unique_ptr<TimedEvent>> marks_;
  std::size_t layer_ = 0;
  std::int64_t left_ = 0;  // operations of this layer that are still to come
};

std::vector<std::int64_t> forward_of(const std::vector<LayerOperations>& layers) {
  std::vector<std::int64_t> counts;
  for (const LayerOperations& layer : layers) counts.push_back(layer.forward);
  return counts;
}

std::vector<std::int64_t> backward_of(const std::vector<LayerOperations>& layers) {
  std::vector<std::int64_t> counts;
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    counts.push_back(layer->backward);
  }
  return counts;
}

class TimingProbe final : public StepProbe {
 public:
  TimingProbe(Device& device, const std::vector<LayerOperations>& layers)
      : forward_(device, forward_of(layers)), backward_(device, backward_of(layers)) {}

  void begin_forward(Stream& stream) override {
    current_ = &forward_;
    forward_.begin(stream);
  }
  void end_forward(Stream& stream) override { forward_.end(stream); }
  void begin_backward(Stream& stream) override {
    current_ = &backward_;
    backward_.begin(stream);
  }
  void end_backward(Stream& stream) override { backward_.end(stream); }
  void before(Stream& stream, const WatchedOperation& /*operation*/) override {
    current_->before_operation(stream);
  }

  [[nodiscard]] double forward(std::size_t layer) const { return forward_.seconds(layer); }
  [[nodiscard]] double backward(std::size_t from_the_last) const {
    return backward_.seconds(from_the_last);
  }

 private:
  PassMarks forward_;
  PassMarks backward_;
  PassMarks* current_ = nullptr;
};

// Marks both passes as wholes, without the marks between layers.
class WholeProbe final : public StepProbe {
 public:
  explicit WholeProbe(Device& device) {
    for (auto& mark : marks_) mark = device.make_timed_event();
  }

  void begin_forward(Stream& stream) override { stream.record(*marks_[0]); }
  void end_forward(Stream& stream) override { stream.record(*marks_[1]); }
  void begin_backward(Stream& stream) override { stream.record(*marks_[2]); }
  void end_backward(Stream& stream) override { stream.record(*marks_[3]); }

  [[nodiscard]] double forward() const { return Seconds(*marks_[1] - *marks_[0]).count(); }
  [[nodiscard]] double backward() const { return Seconds(*marks_[3] - *marks_[2]).count(); }

 private:
  std::array<std::unique_ptr<TimedEvent>, 4> marks_;
};

// The times of one pass, step by step.
struct PassTimes {
  explicit PassTimes(std::size_t layers) : of_layer(layers) {}

  // The medians of the layers' times, scaled so that they add up to the median of the whole pass.
  [[nodiscard]] std::vector<double> of_layers() const {
    std::vector<double> seconds;
    for (const std::vector<double>& times : of_layer) seconds.push_back(stats::median(times));
    const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    if (sum > 0) {
      for (double& layer : seconds) layer *= stats::median(whole) / sum;
    }
    return seconds;
  }

  std::vector<std::vector<double>> of_layer;
  std::vector<double> whole;
};

}  // namespace

std::vector<LayerSeconds> time_layers(Device& device, ProbedStep& step,
                                      const std::vector<LayerOperations>& layers) {
  TANDEM_CHECK(!layers.empty(), "a model of {} layers", layers.size());
  TimingProbe marked(device, layers);
  WholeProbe whole(device);
  for (int i = 0; i < kWarmupSteps; ++i) step.run(marked);
  PassTimes forward(layers.size());
  PassTimes backward(layers.size());
  const TimePoint start = Clock::now();
  for (int done = 0; done < kLeastSteps || (done < kMostSteps && Clock::now() - start < kTime);
       ++done) {
    step.run(marked);
    for (std::size_t i = 0; i < layers.size(); ++i) {
      forward.of_layer[i].push_back(marked.forward(i));
      backward.of_layer[i].push_back(marked.backward(layers.size() - 1 - i));
    }
    step.run(whole);
    forward.whole.push_back(whole.forward());
    backward.whole.push_back(whole.backward());
  }
  const std::vector<double> forward_seconds = forward.of_layers();
  const std::vector<double> backward_seconds = backward.of_layers();
  std::vector<LayerSeconds> times;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    times.push_back({forward_seconds[i], backward_seconds[i]});
  }
  return times;
}

}  // namespace tandem::bench
