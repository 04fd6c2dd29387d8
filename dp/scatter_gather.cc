// SPDX-License-Identifier: Apache-2.0
#include "dp/scatter_gather.h"

#include <utility>

#include "common/base/capture_error.h"

namespace tandem::dp {
namespace {

// A piece's rows of a (batch, width) tensor.
template <class T>
Span<T> rows(Span<T> whole, const Piece& piece, std::int64_t width) {
  return whole.subspan(piece.first * width, piece.count * width);
}

// Where each output lies in the gathered tensor, in elements.
std::vector<Piece> slices_of(const std::vector<Shape>& outputs) {
  std::vector<Piece> slices;
  std::int64_t first = 0;
  for (const Shape& output : outputs) {
    slices.push_back({first, output.count()});
    first += output.count();
  }
  return slices;
}

}  // namespace

struct Scatter::Side {
  Side(Replica& of, Piece share, const std::vector<BatchTensor>& tensors)
      : replica(of),
        piece(share),
        arrived(of.device().make_event()),
        free(of.device().make_event()),
        copies(of.device().make_stream(StreamPriority::kNormal)) {
    for (const BatchTensor& tensor : tensors) {
      const Span<const float> source = rows(tensor.whole, piece, tensor.width);
      const bool is_here = source.device() == of.device().id();
      buffers.push_back(is_here ? nullptr : of.device().allocate(bytes_of<float>(source.size())));
      views.push_back(is_here ? source : Span<const float>(buffers.back()->as<float>()));
    }
  }

  Replica& replica;
  const Piece piece;
  std::vector<std::unique_ptr<Buffer>> buffers;  // per tensor; null where the piece is a view
  std::vector<Span<const float>> views;          // per tensor
  const std::unique_ptr<Event> arrived;          // copies: the pieces are in
  const std::unique_ptr<Event> free;             // compute: they are read
  const std::unique_ptr<Stream> copies;          // last: ends its work before the buffers go
};

Scatter::Scatter(const std::vector<Replica*>& replicas, const std::vector<Piece>& pieces,
                 const std::vector<BatchTensor>& tensors, InputPlace place)
    : tensors_(tensors), place_(place) {
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    sides_.push_back(std::make_unique<Side>(*replicas[i], pieces[i], tensors));
  }
}

// No piece goes while a copy into it is under way.
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
  side.copies->wait(*side.free);  // of the step before
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    dispatch(caller, *side.copies);
    side.replica.timer().copy(*side.copies, side.buffers[i]->as<float>(),
                              rows(tensors_[i].whole, side.piece, tensors_[i].width));
    if (place_ == InputPlace::kPageable) side.copies->synchronize();
  }
  side.copies->record(*side.arrived);
  side.replica.stream().wait(*side.arrived);
}

void Scatter::pull_from_device(Side& side, Interpreter& caller) {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    dispatch(caller, side.replica.stream());
    if (!side.buffers[i]) continue;  // a view of what is already here
    side.replica.timer().copy(side.replica.stream(), side.buffers[i]->as<float>(),
                              rows(tensors_[i].whole, side.piece, tensors_[i].width));
  }
}

Span<const float> Scatter::piece(int replica, int tensor) const {
  return sides_.at(static_cast<std::size_t>(replica))->views.at(static_cast<std::size_t>(tensor));
}

void Scatter::release(int replica) {
  Side& side = *sides_.at(static_cast<std::size_t>(replica));
  side.replica.stream().record(*side.free);
}

Gather::Gather(OutputDevice& target, const std::vector<Replica*>& replicas,
               const std::vector<Shape>& outputs)
    : target_(target),
      replicas_(replicas),
      slices_(slices_of(outputs)),
      gathered_(target.device().allocate(bytes_of<float>(gathered_shape(outputs).count()))),
      gradient_(target.device().allocate(bytes_of<float>(gathered_shape(outputs).count()))),
      gradient_ready_(target.device().make_event()) {
  for (Replica* const replica : replicas) ready_.push_back(replica->device().make_event());
}

void Gather::offer(int replica) {
  const auto index = static_cast<std::size_t>(replica);
  replicas_.at(index)->stream().record(*ready_.at(index));
}

void Gather::enqueue(const std::vector<Span<float>>& from, Interpreter& caller) {
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    target_.begin(Phase::kIdle);
    target_.stream().wait(*ready_[i]);
    target_.begin(Phase::kGather);
    dispatch(caller, target_.stream());
    target_.timer().copy(target_.stream(), rows(gathered(), slices_[i], 1), from[i]);
  }
}

void Gather::scatter_back(const std::vector<Span<float>>& to, Interpreter& caller) {
  dispatch(caller, target_.stream());
  target_.stream().record(*gradient_ready_);
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    Replica& replica = *replicas_[i];
    replica.stream().wait(*gradient_ready_);
    replica.timer().begin(replica.stream(), Phase::kScatterGrad);
    replica.timer().copy(replica.stream(), to[i], rows(gradient(), slices_[i], 1));
  }
}

std::string scalars_warning() {
  return "was asked to gather along dimension 0, but all outputs are scalars: the result is a "
         "vector with one element per replica";
}

Shape gathered_shape(const std::vector<Shape>& outputs) {
  TANDEM_CHECK(!outputs.empty(), "nothing to gather");
  std::vector<std::int64_t> dims = outputs.front().dims();
  if (dims.empty()) return {static_cast<std::int64_t>(outputs.size())};
  dims.front() = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::vector<std::int64_t> expected = outputs.front().dims();
    const std::vector<std::int64_t>& found = outputs[i].dims();
    if (!found.empty()) expected.front() = found.front();
    if (found != expected) {
      fail(ErrorKind::kFailure,
           "gathering outputs: that of replica {} is {} where {} was expected: all dimensions but "
           "the first have to agree",
           i, to_string(outputs[i]), to_string(Shape(expected)));
    }
    dims.front() += found.front();
  }
  return Shape(dims);
}

}  // namespace tandem::dp
