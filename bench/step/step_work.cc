// SPDX-License-Identifier: Apache-2.0
#include "bench/step/step_work.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/kernels/operation_key.h"
#include "common/kernels/operations.h"
#include "common/parallel/replica.h"
#include "common/runtime/device.h"

namespace tandem::bench {

namespace {

// The operations that were enqueued so far.
struct OperationCount {
  std::int64_t operations = 0;  // number of operations, copies and zeroing included
  std::int64_t flops = 0;  // of matrix products and convolutions, attention's among the products
  Bytes updated;           // bytes read and written by optimizer updates
  std::vector<StepOperation>* listed = nullptr;  // where operations are listed; null: nowhere

  // Throws a logic error where operands do not fit, as every back end does.
  template <class Op>
  void note(const Op& op) {
    static_cast<void>(op.accesses());
    ++operations;
    flops += flops_of(op);
  }

  template <class Op>
  void list(const Op& op, const char* name) {
    if (listed == nullptr) return;
    const OperationWork work{static_cast<double>(flops_of(op)), bytes_moved_by(op)};
    listed->push_back({name, key_of(op, name), work});
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
  void take(Stream& /*stream*/, const Op& op, const char* name) {
    count_.note(op);
    count_.list(op, name);
  }
  void take(Stream& /*stream*/, const SgdUpdate& op, const char* name) {
    count_.note_update(op);
    count_.list(op, name);
  }
  void take(Stream& /*stream*/, const AdamUpdate& op, const char* name) {
    count_.note_update(op);
    count_.list(op, name);
  }

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

// An address range that is mapped without access, and that no account counts as memory.
class AddressRange final : public Buffer {
 public:
  AddressRange(Bytes size, DeviceId device) : size_(size), device_(device) {
    data_ = mmap(nullptr, mapped(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data_ == MAP_FAILED) {
      fail(ErrorKind::kFailure,
           "counting a model's operations: no address space for {}: {}; raise ulimit -v",
           to_string(size), std::strerror(errno));
    }
  }
  ~AddressRange() override { munmap(data_, mapped()); }

  [[nodiscard]] ByteSpan bytes() override {
    return {static_cast<std::byte*>(data_), size_.value, device_};
  }

 private:
  [[nodiscard]] std::size_t mapped() const {
    return static_cast<std::size_t>(std::max<std::int64_t>(size_.value, 1));
  }

  const Bytes size_;
  const DeviceId device_;
  void* data_ = nullptr;
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
  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    return std::make_unique<AddressRange>(size, id());
  }
  [[nodiscard]] MemoryUse memory() const override { return {}; }
  [[nodiscard]] std::unique_ptr<Buffer> allocate_host(Bytes size) override {
    return allocate(size);
  }
  [[nodiscard]] std::unique_ptr<Stream> make_stream(StreamPriority /*priority*/) override {
    return std::make_unique<CountingStream>(id(), count_);
  }
  [[nodiscard]] std::unique_ptr<Event> make_event() override {
    fail(ErrorKind::kLogic, "an event of a device on which nothing happens");
  }
  [[nodiscard]] std::unique_ptr<TimedEvent> make_timed_event() override {
    fail(ErrorKind::kLogic, "a timed event of a device on which nothing happens");
  }
  void bind_this_thread() override {}

 private:
  OperationCount& count_;
};

// One device's step, as `single` enqueues a step.
class CountedStep {
 public:
  CountedStep(const Model& model, std::int64_t batch, Precision precision)
      : model_(model),
        parameters_(make_arena(device_, model.layout())),
        gradients_(make_arena(device_, model.layout())),
        buffers_(make_arena(device_, model.buffers())),
        activations_(model.make_activations(device_, batch, precision, OutputType::kLayers)),
        input_(batch * model.input_width(), device_),
        targets_(batch * model.objective().target_width, device_) {}

  void forward() {
    ModuleState state{.buffers = buffers_.tensors};
    model_.forward(on(), as_const(parameters_.tensors), state, input_.values, *activations_);
  }

  void loss() {
    enqueue_loss(operations_, stream_, model_.objective(),
                 {.prediction = activations_->output(),
                  .target = targets_.values,
                  .gradient = activations_->output_gradient(),
                  .loss = loss_.values,
                  .padding = activations_->output_padding()});
  }

  void backward() {
    IgnoreGradients nobody;
    model_.backward(on(), as_const(parameters_.tensors), input_.values, *activations_,
                    gradients_.tensors, nobody);
  }

  void update(const OptimizerOptions& options) {
    const auto optimizer = make_optimizer(device_, model_.layout().arena_count(), options);
    optimizer->step(operations_, stream_, parameters_.flat, gradients_.flat);
  }

  void list_in(std::vector<StepOperation>& operations) { count_.listed = &operations; }

  [[nodiscard]] const OperationCount& count() const { return count_; }

 private:
  struct Values {
    Values(std::int64_t count, Device& device)
        : buffer(device.allocate(bytes_of<float>(count))), values(buffer->as<float>(count)) {}
    std::unique_ptr<Buffer> buffer;
    Span<float> values;
  };

  [[nodiscard]] Executor on() { return {operations_, stream_}; }

  OperationCount count_;
  CountingDevice device_{count_};
  CountingOperations operations_{count_};
  CountingStream stream_{device_.id(), count_};
  const Model& model_;
  const Arena parameters_;
  const Arena gradients_;
  const Arena buffers_;
  const std::unique_ptr<Activations> activations_;
  const Values input_;
  const Values targets_;
  const Values loss_{1, device_};
};

}  // namespace

std::vector<StepOperation> list_step(const Model& model, std::int64_t batch, Precision precision,
                                     const OptimizerOptions& optimizer) {
  CountedStep step(model, batch, precision);
  step.forward();  // operations of a first step alone belong to no part of a step
  std::vector<StepOperation> operations;
  step.list_in(operations);
  step.forward();
  step.loss();
  step.backward();
  step.update(optimizer);
  return operations;
}

StepWork count_step(const Model& model, std::int64_t batch, Precision precision,
                    const OptimizerOptions& optimizer) {
  CountedStep step(model, batch, precision);
  step.forward();  // operations of a first step alone belong to no part of a step
  step.loss();
  step.backward();
  step.update(optimizer);
  const OperationCount first = step.count();
  const auto operations_of = [&step](const auto& part) {
    const std::int64_t before = step.count().operations;
    part();
    return step.count().operations - before;
  };
  StepWork work;
  work.forward = operations_of([&] { step.forward(); });
  work.loss = operations_of([&] { step.loss(); });
  work.backward = operations_of([&] { step.backward(); });
  work.update = operations_of([&] { step.update(optimizer); });
  work.product_flops = static_cast<double>(step.count().flops - first.flops);
  work.optimizer_bytes = Bytes{step.count().updated.value - first.updated.value};
  return work;
}

}  // namespace tandem::bench
