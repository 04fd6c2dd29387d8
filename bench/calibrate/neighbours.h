// SPDX-License-Identifier: Apache-2.0
//
// What other devices do while a calibration times the steps of one: the same steps, on their own or
// in step with that device.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "common/model/model.h"
#include "common/parallel/single.h"
#include "common/parallel/strategy.h"
#include "common/runtime/event_pair.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// Copies of as much memory as gradients take: what an exchange of gradients moves through the
// caches of a core.
class Exchange {
 public:
  Exchange(Device& device, const Model& model);

  void enqueue(Stream& stream);
  // The seconds of the last one, whose stream was synchronised.
  [[nodiscard]] double seconds() const { return Seconds(time_.time()).count(); }

 private:
  EventPair time_;
  const Bytes size_;
  const std::unique_ptr<Buffer> mine_;
  const std::unique_ptr<Buffer> received_;
};

// Threads meet without going to sleep: a core that has slept begins its next step late, by tens to
// hundreds of microseconds on a virtual machine, which is no time of the operations. Each yields to
// its device's worker, with which it shares the core.
class YieldingBarrier {
 public:
  explicit YieldingBarrier(int threads) : threads_(threads) {}

  void arrive_and_wait();

 private:
  const int threads_;
  std::atomic<int> arrived_{0};
  std::atomic<std::uint64_t> meetings_{0};
};

// Steps of `single` on all devices of a platform but the first, until destroyed: again and again,
// or in step with the caller's device, which is the platform's first one's twin. Each device has a
// thread of its own; one thread calls.
class Neighbours {
 public:
  // Throws an error of kind kOutOfMemory where the model does not fit on the devices.
  Neighbours(Platform& platform, const Model& model, const TrainingOptions& options);
  ~Neighbours();
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

  [[nodiscard]] int devices() const { return static_cast<int>(steps_.size()) + 1; }

  // From now on each step waits for the caller's, and the neighbours exchange between steps.
  void go_in_step() { is_in_step_ = true; }
  // The caller's step begins, with everybody's.
  void begin_step();
  // The caller's step is over. Returns the seconds of the slowest neighbour's, once all are over.
  [[nodiscard]] double end_step();

 private:
  void run(std::size_t neighbour);

  YieldingBarrier meeting_;      // of the caller and all neighbours
  bool is_within_step_ = false;  // the caller
  std::atomic<bool> is_over_{false};
  std::atomic<bool> is_in_step_{false};
  std::vector<double> seconds_;  // each neighbour's last step
  std::vector<std::unique_ptr<Single>> steps_;
  std::vector<std::unique_ptr<Exchange>> exchanges_;
  std::vector<std::unique_ptr<Stream>> streams_;  // of the exchanges
  std::vector<std::thread> threads_;
};

// Null where there is one device, or where the model does not fit on the neighbours.
[[nodiscard]] std::unique_ptr<Neighbours> start_neighbours(Platform* platform, const Model& model,
                                                           const TrainingOptions& options);

}  // namespace tandem::bench
