// SPDX-License-Identifier: Apache-2.0
#include "bench/step/step_work.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/parallel/replica.h"

namespace tandem::bench {

namespace {

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

}  // namespace

std::unique_ptr<Buffer> CountingDevice::allocate(Bytes size) {
  return std::make_unique<AddressRange>(size, id());
}

std::unique_ptr<Buffer> CountingDevice::allocate_host(Bytes size) { return allocate(size); }

std::unique_ptr<Stream> CountingDevice::make_stream(StreamPriority /*priority*/) {
  return std::make_unique<CountingStream>(id(), count_);
}

std::unique_ptr<Event> CountingDevice::make_event() {
  fail(ErrorKind::kLogic, "an event of a device on which nothing happens");
}

std::unique_ptr<TimedEvent> CountingDevice::make_timed_event() {
  fail(ErrorKind::kLogic, "a timed event of a device on which nothing happens");
}

namespace {

// One device's step, as `single` enqueues a step.
class CountedStep {
 public:
  CountedStep(const Model& model, std::int64_t batch, Precision precision)
      : model_(model),
        parameters_(make_arena(device_, model.layout())),
        gradients_(make_arena(device_, model.layout())),
        buffers_(make_arena(device_, model.buffers())),
        activations_(model.make_activations(device_, batch, precision)),
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
                  .loss = loss_.values});
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
