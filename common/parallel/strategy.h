// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/data/synthetic_batch.h"
#include "common/kernels/operations.h"
#include "common/model/parameter_layout.h"
#include "common/optim/optimizer.h"
#include "common/parallel/interpreters.h"
#include "common/trace/phase_timer.h"

namespace tandem {

namespace options {
class Values;
}  // namespace options

// The place of the batch when a step starts.
enum class InputPlace {
  kHost,      // pinned host memory: devices copy while other work goes on
  kPageable,  // ordinary host memory: the copying thread waits for the copy
  kDevice,
};

[[nodiscard]] constexpr HostMemory host_memory_of(InputPlace place) {
  return place == InputPlace::kPageable ? HostMemory::kPageable : HostMemory::kPinned;
}

// The options that every strategy of a comparison shares.
struct TrainingOptions {
  std::int64_t global_batch = 0;  // samples per step over all devices
  std::uint64_t seed = 1;         // seed of weights and data
  Distribution distribution = Distribution::kUniform;
  OptimizerOptions optimizer{};
  Precision precision = Precision::kFp32;  // precision in which models compute
  ImageOptions images{};                   // of GPUs
  InputPlace input = InputPlace::kHost;
  std::vector<std::int64_t> input_lengths{};  // as in BatchShape; empty: no padding
  PhaseOptions phases{};
  InterpreterOptions interpreter{};
};

// The training that a command line asks for; --input=scatter counts as kHost.
[[nodiscard]] TrainingOptions training_options(const options::Values& values);

struct DeviceTimes {
  int device = 0;
  PhaseTimes times;
};

struct DeviceCollectives {
  int device = 0;
  std::vector<CollectiveTimes> collectives{};  // collectives in launch order
};

// One way to train one model on several devices, seen from one process (or one rank that is a
// thread). A step is: input in, forward, loss, backward, gradients combined, weights updated.
// Called by one thread; ranks make the same calls in the same order.
class Strategy : boost::noncopyable {
 public:
  virtual ~Strategy() = default;

  // Enqueues one training step. Returns when the algorithm itself does not wait any more; the
  // devices may still be at work. The next step may be enqueued at once.
  virtual void step() = 0;

  // Waits for all of this process's streams and throws an error of any of them.
  virtual void synchronize() = 0;

  // The weights of the copy from which training goes on, in device memory; synchronise first.
  [[nodiscard]] virtual TensorList weights() = 0;

  // The gradients of the latest step, as the optimizer saw them; synchronise first.
  [[nodiscard]] virtual TensorList gradients() = 0;

  // The phase times of this process's devices over the steps since the last call; synchronise
  // first. Empty times with phases off.
  [[nodiscard]] virtual std::vector<DeviceTimes> collect_phases() = 0;

  // The warnings that PyTorch would give, each once.
  [[nodiscard]] virtual std::vector<std::string> warnings() const { return {}; }

  // The values of options that depend on the devices, by name, and the implementations of
  // operations that have several.
  [[nodiscard]] virtual std::map<std::string, std::string> resolved_options() const { return {}; }

  // The number of this process's devices that take part in a step.
  [[nodiscard]] virtual int devices_used() const { return 1; }

  // The number of calls that PyTorch would have dispatched from Python in this process, since
  // construction.
  [[nodiscard]] virtual std::int64_t dispatches() const = 0;

  // The gradient collectives of this process's devices over the steps since the last call;
  // synchronise first. Empty where there are none, and with phases off.
  [[nodiscard]] virtual std::vector<DeviceCollectives> collect_collectives() { return {}; }

  // The sizes of gradient buckets in launch order; empty where there are no buckets.
  [[nodiscard]] virtual std::vector<Bytes> bucket_sizes() const { return {}; }
};

}  // namespace tandem
