// SPDX-License-Identifier: Apache-2.0
//
// Weights stay in the plain (out, kernel, kernel, in) layout that the arena, the optimizer and the
// collectives see. oneDNN is fast on blocked layouts alone, so that each execution copies the
// weight to the layout that oneDNN asks for, or copies the weight's gradient from that layout;
// activations already have a layout that oneDNN accepts. Where a weight has few positions, the copy
// costs more than the layout gains.
#include "common/kernels/host/convolution.h"

#include <optional>
#include <unordered_map>

#include "common/base/rounding.h"
#include "common/kernels/host/primitive_cache.h"

namespace tandem::host {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Arguments = std::unordered_map<int, memory>;

enum class Pass { kForward, kBackwardInput, kBackwardWeight };

struct ConvolutionKey {
  Pass pass = Pass::kForward;
  ConvolutionShape shape;
  DType type = DType::kFloat32;  // type of all operands but the weight's gradient

  auto operator<=>(const ConvolutionKey&) const = default;
};

std::string to_string(const ConvolutionKey& key) {
  const ConvolutionShape& s = key.shape;
  const char* name = key.pass == Pass::kForward         ? "convolution_forward"
                     : key.pass == Pass::kBackwardInput ? "convolution_backward_input"
                                                        : "convolution_backward_weight";
  return fmt::format("{} of {} x {} x {} x {} -> {}, {} x {}, stride {}, in {}", name, s.batch,
                     s.height, s.width, s.in, s.out, s.kernel, s.kernel, s.stride,
                     name_of(key.type));
}

// Sizes in oneDNN's order, (batch, channels, height, width) and (out, in, height, width), whatever
// the layout.
memory::desc input_of(const ConvolutionKey& key) {
  const ConvolutionShape& s = key.shape;
  return {{s.batch, s.in, s.height, s.width}, library_type(key.type), Tag::nhwc};
}

memory::desc output_of(const ConvolutionKey& key) {
  const ConvolutionShape& s = key.shape;
  return {{s.batch, s.out, s.out_height(), s.out_width()}, library_type(key.type), Tag::nhwc};
}

memory::desc weight_of(const ConvolutionKey& key, Tag tag) {
  const ConvolutionShape& s = key.shape;
  const DType type = key.pass == Pass::kBackwardWeight ? DType::kFloat32 : key.type;
  return {{s.out, s.in, s.kernel, s.kernel}, library_type(type), tag};
}

// A convolution on weights of oneDNN's own layout, which `weight` describes.
struct Planned {
  dnnl::primitive primitive;
  memory::desc weight;
  memory::desc scratch;
};

// The strides and padding of a window. Padding at the far end is as much as the last window needs.
struct Window {
  memory::dims strides;
  memory::dims before;
  memory::dims after;
};

Window window_of(const ConvolutionShape& s) {
  const auto behind = [&](std::int64_t size, std::int64_t windows) {
    return (windows - 1) * s.stride + s.kernel - size - s.padding;
  };
  return {{s.stride, s.stride},
          {s.padding, s.padding},
          {behind(s.height, s.out_height()), behind(s.width, s.out_width())}};
}

constexpr auto kDirect = dnnl::algorithm::convolution_direct;

dnnl::convolution_forward::primitive_desc forward_description(const dnnl::engine& engine,
                                                              const ConvolutionKey& key) {
  ConvolutionKey forward = key;
  forward.pass = Pass::kForward;
  const Window window = window_of(key.shape);
  return describe_forward<dnnl::convolution_forward>(
      engine, library_attributes(), dnnl::prop_kind::forward_training, kDirect, input_of(forward),
      weight_of(forward, Tag::any), output_of(forward), window.strides, window.before,
      window.after);
}

template <class Primitive>
typename Primitive::primitive_desc backward_description(const dnnl::engine& engine,
                                                        const ConvolutionKey& key) {
  const Window window = window_of(key.shape);
  return describe_backward<Primitive>(engine, forward_description(engine, key), kDirect,
                                      input_of(key), weight_of(key, Tag::any), output_of(key),
                                      window.strides, window.before, window.after);
}

Planned plan(const dnnl::engine& engine, const ConvolutionKey& key) {
  switch (key.pass) {
    case Pass::kForward: {
      const auto description = forward_description(engine, key);
      return {dnnl::convolution_forward(description), description.weights_desc(),
              description.scratchpad_desc()};
    }
    case Pass::kBackwardInput: {
      using Primitive = dnnl::convolution_backward_data;
      const auto description = backward_description<Primitive>(engine, key);
      return {Primitive(description), description.weights_desc(), description.scratchpad_desc()};
    }
    case Pass::kBackwardWeight: {
      using Primitive = dnnl::convolution_backward_weights;
      const auto description = backward_description<Primitive>(engine, key);
      return {Primitive(description), description.diff_weights_desc(),
              description.scratchpad_desc()};
    }
  }
  fail(ErrorKind::kLogic, "no such pass");
}

// The argument numbers of a pass's operands.
struct Names {
  int input;
  int weight;
  int output;
};

Names names_of(Pass pass) {
  switch (pass) {
    case Pass::kForward:
      return {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
    case Pass::kBackwardInput:
      return {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST};
    case Pass::kBackwardWeight:
      return {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST};
  }
  fail(ErrorKind::kLogic, "no such pass");
}

struct Addresses {
  void* input;
  void* weight;
  void* output;
};

constexpr std::int64_t kLine = 64;  // bytes of a cache line

std::int64_t size_of(const memory::desc& desc) {
  return static_cast<std::int64_t>(desc.get_size());
}

// A convolution and the copy of its weight, with their memory objects, whose pointers each
// execution sets. The first part of the scratch memory is the weight in oneDNN's layout, the rest
// is scratch memory of both primitives.
class PreparedConvolution {
 public:
  PreparedConvolution(const dnnl::engine& engine, const ConvolutionKey& key)
      : names_(names_of(key.pass)),
        makes_weight_(key.pass == Pass::kBackwardWeight),
        planned_(plan(engine, key)),
        weight_(weight_of(key, Tag::ohwi), engine, nullptr) {
    memory inner = weight_;
    std::int64_t copying = 0;
    if (planned_.weight != weight_.get_desc()) {
      inner = memory(planned_.weight, engine, nullptr);
      inner_bytes_ = round_up(size_of(planned_.weight), kLine);
      const auto from = makes_weight_ ? planned_.weight : weight_.get_desc();
      const auto to = makes_weight_ ? weight_.get_desc() : planned_.weight;
      const dnnl::reorder::primitive_desc copy(engine, from, engine, to, library_attributes());
      copy_.emplace(copy);
      copying = size_of(copy.scratchpad_desc());
      copy_arguments_ = {{makes_weight_ ? DNNL_ARG_TO : DNNL_ARG_FROM, weight_},
                         {makes_weight_ ? DNNL_ARG_FROM : DNNL_ARG_TO, inner},
                         {DNNL_ARG_SCRATCHPAD, memory(copy.scratchpad_desc(), engine, nullptr)}};
    }
    arguments_ = {{names_.input, memory(input_of(key), engine, nullptr)},
                  {names_.weight, inner},
                  {names_.output, memory(output_of(key), engine, nullptr)},
                  {DNNL_ARG_SCRATCHPAD, memory(planned_.scratch, engine, nullptr)}};
    scratch_ = Bytes{inner_bytes_ + std::max(copying, size_of(planned_.scratch))};
  }

  [[nodiscard]] Bytes scratch() const { return scratch_; }

  void execute(const dnnl::stream& stream, const Addresses& at, std::byte* scratch) {
    weight_.set_data_handle(at.weight);
    arguments_.at(names_.input).set_data_handle(at.input);
    arguments_.at(names_.output).set_data_handle(at.output);
    arguments_.at(DNNL_ARG_SCRATCHPAD).set_data_handle(scratch + inner_bytes_);
    if (!copy_) return planned_.primitive.execute(stream, arguments_);
    arguments_.at(names_.weight).set_data_handle(scratch);
    copy_arguments_.at(DNNL_ARG_SCRATCHPAD).set_data_handle(scratch + inner_bytes_);
    if (!makes_weight_) copy_->execute(stream, copy_arguments_);
    planned_.primitive.execute(stream, arguments_);
    if (makes_weight_) copy_->execute(stream, copy_arguments_);
  }

 private:
  const Names names_;
  const bool makes_weight_;
  const Planned planned_;
  memory weight_;  // in the operand's layout
  std::int64_t inner_bytes_ = 0;
  std::optional<dnnl::reorder> copy_;  // empty where oneDNN takes the operand's layout
  Arguments copy_arguments_;
  Arguments arguments_;
  Bytes scratch_;
};

// A 1 x 1 convolution is the product of a linear layer on all positions, which needs no copy.
// Measured in fp32: with 196 positions the product takes 0.44 to 0.75 of
// the convolution's time, with 784 positions the same time.
bool is_product(const ConvolutionShape& s, DType type) {
  constexpr std::int64_t kFew = 512;
  return type == DType::kFloat32 && s.kernel == 1 && s.stride == 1 &&
         s.batch * s.height * s.width < kFew;
}

LinearShape product_of(const ConvolutionShape& s) {
  return {.batch = s.batch * s.height * s.width, .in = s.in, .out = s.out};
}

}  // namespace

class Convolutions::Library : public PrimitiveCache<ConvolutionKey, PreparedConvolution> {
  using PrimitiveCache::PrimitiveCache;
};

Convolutions::Convolutions(Scratch& scratch, LinearProducts& products)
    : library_(std::make_unique<Library>(scratch)), products_(products) {}
Convolutions::~Convolutions() = default;

PreparedWork Convolutions::prepare(const ConvolutionForward& op) {
  if (is_product(op.shape, op.x.dtype())) {
    return products_.prepare(
        LinearForward{.shape = product_of(op.shape), .x = op.x, .weight = op.weight, .y = op.y});
  }
  return library_->work({Pass::kForward, op.shape, op.x.dtype()},
                        Addresses{library_address(op.x), library_address(op.weight), op.y.data()});
}

PreparedWork Convolutions::prepare(const ConvolutionBackwardInput& op) {
  if (is_product(op.shape, op.dy.dtype())) {
    return products_.prepare(LinearBackwardInput{
        .shape = product_of(op.shape), .dy = op.dy, .weight = op.weight, .dx = op.dx});
  }
  return library_->work(
      {Pass::kBackwardInput, op.shape, op.dy.dtype()},
      Addresses{op.dx.data(), library_address(op.weight), library_address(op.dy)});
}

PreparedWork Convolutions::prepare(const ConvolutionBackwardWeight& op) {
  if (is_product(op.shape, op.x.dtype())) {
    return products_.prepare(LinearBackwardWeight{
        .shape = product_of(op.shape), .x = op.x, .dy = op.dy, .dweight = op.dweight});
  }
  return library_->work(
      {Pass::kBackwardWeight, op.shape, op.x.dtype()},
      Addresses{library_address(op.x), op.dweight.data(), library_address(op.dy)});
}

std::int64_t Convolutions::count() const { return library_->count(); }

}  // namespace tandem::host
