// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "common/base/units.h"
#include "common/kernels/each_operation.h"
#include "common/kernels/image_operands.h"
#include "common/kernels/operands.h"
#include "common/kernels/operations.h"
#include "common/kernels/precision.h"
#include "common/model/model.h"
#include "common/optim/optimizer.h"
#include "common/runtime/device.h"

namespace tandem::bench {

// The FLOPs of an operation: a multiply-add counts as two, and attention's scores count once
// forward and twice backward. Operations that are no product have 0.
template <class Op>
[[nodiscard]] constexpr std::int64_t flops_of(const Op& op) {
  if constexpr (requires { product_flops(op.shape); }) {
    return product_flops(op.shape);
  } else if constexpr (requires { convolution_flops(op.shape); }) {
    return convolution_flops(op.shape);
  } else if constexpr (requires { attention_flops(op.shape); }) {
    return (std::is_same_v<Op, AttentionBackward> ? 2 : 1) * attention_flops(op.shape);
  } else {
    return 0;
  }
}

// The bytes that an update moves, by the accesses that it declares: each operand that is only read
// counts once, and each operand that is changed in place counts twice, being read and written.
template <class Update>
[[nodiscard]] Bytes bytes_moved_by(const Update& update) {
  Bytes moved{0};
  for (const Access& access : accesses(update)) {
    moved += access.size * (access.mode == Access::Mode::kWrite ? 2 : 1);
  }
  return moved;
}

// The operations that were enqueued so far.
struct OperationCount {
  std::int64_t operations = 0;  // number of operations, copies and zeroing included
  std::int64_t flops = 0;  // of matrix products and convolutions, attention's among the products
  Bytes updated;           // bytes read and written by optimizer updates

  // Throws a logic error where operands do not fit, as every back end does.
  template <class Op>
  void note(const Op& op) {
    check_sizes(op);
    ++operations;
    flops += flops_of(op);
  }

  template <class Update>
  void note_update(const Update& op) {
    note(op);
    updated += bytes_moved_by(op);
  }
};

// `count` outlives the operations.
class CountingOperations final : public EachOperation<CountingOperations> {
 public:
  explicit CountingOperations(OperationCount& count) : count_(count) {}

  template <class Op>
  void take(Stream& /*stream*/, const Op& op, const char* /*name*/) {
    count_.note(op);
  }
  void take(Stream& /*stream*/, const SgdUpdate& op, const char* /*name*/) {
    count_.note_update(op);
  }
  void take(Stream& /*stream*/, const AdamUpdate& op, const char* /*name*/) {
    count_.note_update(op);
  }

  [[nodiscard]] ImageOperations* images() override { return this; }

 private:
  OperationCount& count_;
};

// Counts copies and zeroing as operations. The stream carries nothing out, so all work is always
// done. `count` outlives the stream.
class CountingStream final : public Stream {
 public:
  CountingStream(DeviceId device, OperationCount& count) : device_(device), count_(count) {}

  [[nodiscard]] DeviceId device() const override { return device_; }
  void record(Event& /*event*/) override {}
  void wait(const Event& /*event*/) override {}
  void start_after(TimePoint /*time*/) override {}
  void delay(Nanoseconds /*duration*/) override {}
  void synchronize() override {}
  [[nodiscard]] bool is_done() override { return true; }
  void copy_bytes(ByteSpan /*destination*/, ConstByteSpan /*source*/) override {
    ++count_.operations;
  }
  void zero_bytes(ByteSpan /*destination*/) override { ++count_.operations; }

 private:
  const DeviceId device_;
  OperationCount& count_;
};

// A buffer is address space of its own, without pages: a process that touches a buffer ends.
// `count` outlives the device. There are no events, since nothing ever happens on the device.
class CountingDevice final : public Device {
 public:
  explicit CountingDevice(OperationCount& count) : count_(count) {}

  [[nodiscard]] DeviceId id() const override { return {Backend::kHost, 0}; }
  [[nodiscard]] std::string name() const override { return "address space"; }
  [[nodiscard]] std::string hardware() const override { return "none"; }
  [[nodiscard]] int multiprocessor_count() const override { return 1; }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override;
  [[nodiscard]] MemoryUse memory() const override { return {}; }
  [[nodiscard]] std::unique_ptr<Buffer> allocate_host(Bytes size) override;
  [[nodiscard]] std::unique_ptr<Stream> make_stream(StreamPriority priority) override;
  [[nodiscard]] std::unique_ptr<Event> make_event() override;
  [[nodiscard]] std::unique_ptr<TimedEvent> make_timed_event() override;
  void bind_this_thread() override {}

 private:
  OperationCount& count_;
};

// The work that one step asks of a device that does the whole step, whatever the strategy adds.
struct StepWork {
  // Operations that are enqueued, each operation one task of a host device or at least one kernel
  // of a GPU.
  std::int64_t forward = 0;
  std::int64_t loss = 0;  // operations of the loss and its gradient
  std::int64_t backward = 0;
  std::int64_t update = 0;  // operations on weights and gradients in one piece each
  double product_flops = 0;
  Bytes optimizer_bytes;  // read and written by the update, gaps between parameters included

  [[nodiscard]] std::int64_t operations() const { return forward + loss + backward + update; }
};

// Counts the operations of a step of `batch` samples: the model, its objective and the optimizer
// enqueue the step on operations that carry nothing out. Takes almost no memory.
[[nodiscard]] StepWork count_step(const Model& model, std::int64_t batch, Precision precision,
                                  const OptimizerOptions& optimizer);

}  // namespace tandem::bench
