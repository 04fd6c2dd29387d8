// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/scatter.h"

#include "common/base/error.h"
#include "common/runtime/copy.h"

namespace tandem {

namespace {

// A shard's rows of a (batch, width) tensor.
template <class T>
Span<T> rows(Span<T> whole, const Shard& shard, std::int64_t width) {
  return whole.subspan(shard.first * width, shard.count * width);
}

std::unique_ptr<Buffer> copied_to(Device& device, Span<const float> values) {
  auto buffer = device.allocate(values.size_bytes());
  const auto stream = device.make_stream(StreamPriority::kNormal);
  enqueue_copy(*stream, buffer->as<float>(), values);
  stream->synchronize();
  return buffer;
}

}  // namespace

struct Scatter::Side {
  Side(Replica& of, Shard share, const std::vector<BatchTensor>& tensors)
      : replica(of),
        shard(share),
        arrived(of.device().make_event()),
        free(of.device().make_event()),
        copies(of.device().make_stream(StreamPriority::kNormal)) {
    for (const BatchTensor& tensor : tensors) {
      const Span<const float> source = rows(tensor.whole, shard, tensor.width);
      const bool is_here = source.device() == of.device().id();
      buffers.push_back(is_here ? nullptr : of.device().allocate(bytes_of<float>(source.size())));
      views.push_back(is_here ? source : Span<const float>(buffers.back()->as<float>()));
    }
  }

  Replica& replica;
  const Shard shard;
  std::vector<std::unique_ptr<Buffer>> buffers;  // per tensor; null where the shard is a view
  std::vector<Span<const float>> views;          // per tensor
  const std::unique_ptr<Event> arrived;          // recorded on copies: the shards have arrived
  const std::unique_ptr<Event> free;             // recorded on compute: the shards have been read
  const std::unique_ptr<Stream> copies;          // last: ends its work before the buffers go
};

Scatter::Scatter(const std::vector<Replica*>& replicas, const std::vector<Shard>& shards,
                 const std::vector<BatchTensor>& tensors, InputPlace place)
    : tensors_(tensors), place_(place) {
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    sides_.push_back(std::make_unique<Side>(*replicas[i], shards[i], tensors));
  }
}

// No shard may be destroyed while a copy into the shard is under way.
Scatter::~Scatter() { synchronize(); }

void Scatter::synchronize() {
  for (const auto& side : sides_) {
    static_cast<void>(capture_error([&] { side->copies->synchronize(); }));
  }
}

void Scatter::enqueue(Interpreter& caller) {
  for (const auto& side : sides_) {
    side->replica.timer().begin(side->replica.stream(), Phase::kScatter);
    if (place_ == InputPlace::kDevice) {
      pull_from_device(*side, caller);
    } else {
      copy_from_host(*side, caller);
    }
  }
}

void Scatter::copy_from_host(Side& side, Interpreter& caller) {
  side.copies->wait(*side.free);  // released by the preceding step
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    dispatch(caller, *side.copies, DispatchKind::kScatter);
    side.replica.timer().copy(*side.copies, side.buffers[i]->as<float>(),
                              rows(tensors_[i].whole, side.shard, tensors_[i].width));
    if (place_ == InputPlace::kPageable) side.copies->synchronize();
  }
  side.copies->record(*side.arrived);
  side.replica.stream().wait(*side.arrived);
}

void Scatter::pull_from_device(Side& side, Interpreter& caller) {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    dispatch(caller, side.replica.stream(), DispatchKind::kScatter);
    if (!side.buffers[i]) continue;  // a view of a shard already on this device
    side.replica.timer().copy(side.replica.stream(), side.buffers[i]->as<float>(),
                              rows(tensors_[i].whole, side.shard, tensors_[i].width));
  }
}

Span<const float> Scatter::shard(int replica, int tensor) const {
  return sides_.at(static_cast<std::size_t>(replica))->views.at(static_cast<std::size_t>(tensor));
}

void Scatter::release(int replica) {
  Side& side = *sides_.at(static_cast<std::size_t>(replica));
  side.replica.stream().record(*side.free);
}

WholeBatch::WholeBatch(Platform& platform, const Model& model, const TrainingOptions& options,
                       Device& root, Device& output_device)
    : host_(platform, batch_shape(model, {0, options.global_batch}, options.input_lengths),
            options.seed, options.distribution, host_memory_of(options.input)) {
  if (options.input != InputPlace::kDevice) return;
  inputs_ = copied_to(root, host_.inputs());
  targets_ = copied_to(output_device, host_.targets());
}

Span<const float> WholeBatch::inputs() const {
  return inputs_ ? Span<const float>(inputs_->as<float>()) : host_.inputs();
}

Span<const float> WholeBatch::targets() const {
  return targets_ ? Span<const float>(targets_->as<float>()) : host_.targets();
}

}  // namespace tandem
