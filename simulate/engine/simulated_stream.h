// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/runtime/stream.h"
#include "simulate/engine/simulation.h"

namespace tandem::simulated {

// A point in a simulated stream: the task that marks it.
class SimulatedEvent final : public TimedEvent {
 public:
  SimulatedEvent(Simulation& simulation, DeviceId device)
      : simulation_(simulation), device_(device) {}

  [[nodiscard]] bool is_done() const override;
  [[nodiscard]] Nanoseconds since(const TimedEvent& start) const override;
  [[nodiscard]] std::optional<Nanoseconds> on_clock() const override { return time(); }

  [[nodiscard]] TaskId latest() const { return latest_; }  // kNoTask: never recorded
  void set_latest(TaskId task) { latest_ = task; }
  [[nodiscard]] DeviceId recorded_on() const { return device_; }

 private:
  [[nodiscard]] Nanoseconds time() const;

  Simulation& simulation_;
  const DeviceId device_;
  TaskId latest_ = kNoTask;
};

// Carries nothing out: every call adds its task to the stream's lane, behind the host's call. The
// host never waits really, and waiting is a task of the host thread's own lane.
class SimulatedStream final : public Stream {
 public:
  SimulatedStream(Simulation& simulation, DeviceId device, std::string name)
      : simulation_(simulation),
        device_(device),
        lane_(simulation.schedule().add_lane(std::move(name))) {}

  [[nodiscard]] DeviceId device() const override { return device_; }
  void record(Event& event) override;
  void note(Event& event) override;
  void wait(const Event& event) override;
  void start_after(TimePoint time) override;
  void delay(Nanoseconds duration) override;
  void dispatch(Interpreter& interpreter, DispatchKind kind, int calls) override;
  void synchronize() override;
  [[nodiscard]] bool is_done() override;
  void copy_bytes(ByteSpan destination, ConstByteSpan source) override;
  void zero_bytes(ByteSpan destination) override;

  // An operation that takes this long with the device to itself, as `basis` has it.
  void compute(Nanoseconds alone, CostBasis basis = CostBasis::kDescribed);

  // This device's part in a collective of GPUs; `of` says what the collective's time rests on.
  void take_part(CollectiveId collective, TimeOf of);
  // The same of cores: once all are there, the device works this long for it.
  void take_part(CollectiveId collective, Nanoseconds work);

  [[nodiscard]] Simulation& simulation() { return simulation_; }

 private:
  // The call that enqueues work; a stream of another device than the thread's may have to wake up.
  TaskId launch();
  void compute_by_size(std::string_view name, Bytes size, KernelKind kind, Bytes moved);
  void record_after(Event& event, TaskId call);

  Simulation& simulation_;
  const DeviceId device_;
  const LaneId lane_;
};

// The simulated stream behind `stream`, which must be one.
[[nodiscard]] SimulatedStream& simulated_stream(Stream& stream);

}  // namespace tandem::simulated
