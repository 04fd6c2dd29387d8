// SPDX-License-Identifier: Apache-2.0
#include "common/model/gpt2.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "common/base/units.h"
#include "common/model/gpt2_activations.h"
#include "common/model/passes.h"

namespace tandem {

// The operands of both passes of a GPT-2. Borrows all of them for the length of a call.
struct Gpt2Pass {
  Executor on;
  const Gpt2Shape& shape;
  LayerParameters parameters;
  Span<const float> ids;  // (batch, sequence)
  Gpt2Activations& kept;

  [[nodiscard]] std::int64_t norms() const { return 2 * shape.layers + 1; }
};

//   stream   tokens + positions --+--------------------------(+)--+-----------------(+)-- ... norm,
//   head branch                        norm, c_attn, attention, c_proj  norm, c_fc, GELU, c_proj
//                                 '------------- a block: attention, then MLP -------------'
//
// Each addition to the stream is one operation with the norm behind it.
namespace {

using gpt2::Layer;

void embed(const Gpt2Pass& pass) {
  const EmbeddingShape shape = pass.shape.embedding(pass.kept.batch());
  charge(pass.on, 2);                            // both tables
  charge(pass.on, 2, DispatchKind::kOperation);  // positions by arange, the sum
  pass.on.enqueue(EmbeddingForward{
      .shape = shape,
      .ids = pass.ids,
      .tokens = pass.parameters.fp32(gpt2::kTokens),
      .places = pass.parameters.fp32(gpt2::kPositions).subspan(0, shape.positions * shape.width),
      .y = pass.kept.norm(0).sum});
}

// Normalises the stream after adding the branch; the first norm has nothing to add.
void normalise(const Gpt2Pass& pass, std::int64_t index) {
  const Gpt2Activations::Norm& norm = pass.kept.norm(index);
  const NormSegments segments = gpt2::norm_segments(index);
  const bool adds = index > 0;
  charge(pass.on);
  if (adds) charge(pass.on, 1, DispatchKind::kOperation);
  pass.on.enqueue(
      LayerNormForward{.shape = pass.shape.norm(pass.kept.batch()),
                       .x = adds ? pass.kept.norm(index - 1).sum : norm.sum,
                       .branch = adds ? ConstAnySpan(pass.kept.branch()) : ConstAnySpan(),
                       .gain = pass.parameters.fp32(segments.gain),
                       .bias = pass.parameters.fp32(segments.bias),
                       .sum = adds ? norm.sum : Span<float>(),
                       .y = norm.y,
                       .mean = norm.mean,
                       .rstd = norm.rstd});
}

LinearForward linear(const Gpt2Pass& pass, std::int64_t block, Layer layer, ConstAnySpan x,
                     AnySpan y) {
  const LinearSegments segments = gpt2::linear_segments(block, layer);
  return {.shape = gpt2::linear_shape(pass.shape, pass.kept.batch(), layer),
          .x = x,
          .weight = pass.parameters.factor(segments.weight),
          .bias = pass.parameters.factor(segments.bias),
          .y = y};
}

// Leaves in branch() the attention's addition to the stream.
void attend(const Gpt2Pass& pass, std::int64_t index) {
  const auto& [on, shape, parameters, ids, kept] = pass;
  const Gpt2Activations::Block& block = kept.block(index);
  const AnySpan x = kept.norm(2 * index).y;
  charge(on);
  on.enqueue(linear(pass, index, Layer::kAttentionIn, x, block.qkv));
  // Split: 1; view and transpose q, k, v: 6; attention: 1; and back: 3.
  charge(on, 11, DispatchKind::kOperation);
  on.enqueue(AttentionForward{.shape = shape.attention(kept.batch()),
                              .qkv = block.qkv,
                              .y = block.attended,
                              .log_sums = block.log_sums});
  charge(on);
  on.enqueue(linear(pass, index, Layer::kAttentionOut, block.attended, kept.branch()));
}

void apply_mlp(const Gpt2Pass& pass, std::int64_t index) {
  const Gpt2Activations::Block& block = pass.kept.block(index);
  const AnySpan x = pass.kept.norm(2 * index + 1).y;
  LinearForward in = linear(pass, index, Layer::kMlpIn, x, block.hidden);
  in.activation = Activation::kGelu;
  in.before = block.before;
  charge(pass.on, 2);
  pass.on.enqueue(in);
  charge(pass.on);
  pass.on.enqueue(linear(pass, index, Layer::kMlpOut, block.hidden, pass.kept.branch()));
}

// Multiplies by the token table, without a bias.
void apply_head(const Gpt2Pass& pass) {
  const AnySpan logits = pass.kept.logits();
  charge(pass.on);
  pass.on.enqueue(
      LinearForward{.shape = pass.shape.head(pass.kept.batch(), pass.kept.output_padding()),
                    .x = pass.kept.norm(pass.norms() - 1).y,
                    .weight = pass.parameters.factor(gpt2::kTokens),
                    .y = logits});
  enqueue_cast(pass.on, logits, pass.kept.output());
}

}  // namespace

void gpt2_forward(const Gpt2Pass& pass) {
  if (ParameterCopies* const copies = pass.kept.copies())
    copies->cast(pass.on, pass.parameters.tensors);
  embed(pass);
  for (std::int64_t block = 0; block < pass.shape.layers; ++block) {
    normalise(pass, 2 * block);
    attend(pass, block);
    normalise(pass, 2 * block + 1);
    apply_mlp(pass, block);
  }
  normalise(pass, pass.norms() - 1);
  apply_head(pass);
}

namespace {

// The backward of a block's linear layer.
void linear_backward(const Gpt2Pass& pass, const GradientPlaces& gradients, std::int64_t block,
                     Layer layer, ConstAnySpan x, ConstAnySpan dy, AnySpan dx,
                     ConstAnySpan before = {}) {
  enqueue_linear_backward(
      pass.on, pass.parameters, gradients, gpt2::linear_segments(block, layer),
      {gpt2::linear_shape(pass.shape, pass.kept.batch(), layer), x, dy, dx, before});
}

// Turns the gradient of the norm's result, in input_gradient(), into the gradient of the stream.
// The last norm writes the stream's gradient first; below the first norm no layer wants this
// gradient in the layers' type.
void norm_backward(const Gpt2Pass& pass, const GradientPlaces& gradients, std::int64_t index) {
  const Gpt2Activations::Norm& norm = pass.kept.norm(index);
  const NormSegments segments = gpt2::norm_segments(index);
  const Span<float> stream = pass.kept.stream_gradient();
  const bool is_last = index == pass.norms() - 1;
  const bool casts = index > 0 && pass.kept.copies() != nullptr;
  pass.on.enqueue(LayerNormBackward{.shape = pass.shape.norm(pass.kept.batch()),
                                    .dy = pass.kept.input_gradient(),
                                    .sum = norm.sum,
                                    .gain = pass.parameters.fp32(segments.gain),
                                    .mean = norm.mean,
                                    .rstd = norm.rstd,
                                    .dabove = is_last ? Span<const float>() : stream,
                                    .dsum = stream,
                                    .dbranch = casts ? pass.kept.branch_gradient() : AnySpan(),
                                    .dgain = gradients.of(segments.gain),
                                    .dbias = gradients.of(segments.bias)});
  gradients.sink.gradient_ready(segments.gain);
  gradients.sink.gradient_ready(segments.bias);
}

// Writes the token table's gradient, to which the embedding adds.
void head_backward(const Gpt2Pass& pass, const GradientPlaces& gradients) {
  const auto& [on, shape, parameters, ids, kept] = pass;
  const AnySpan dlogits = kept.logits();
  enqueue_cast(on, kept.output_gradient(), dlogits);
  on.enqueue(LinearBackwardInput{.shape = shape.head(kept.batch(), kept.output_padding()),
                                 .dy = dlogits,
                                 .weight = pass.parameters.factor(gpt2::kTokens),
                                 .dx = kept.input_gradient()});
  on.enqueue(LinearBackwardWeight{.shape = shape.head(kept.batch()),
                                  .x = kept.norm(pass.norms() - 1).y,
                                  .dy = dlogits,
                                  .dweight = gradients.of(gpt2::kTokens),
                                  .padding = kept.output_padding()});
}

void mlp_backward(const Gpt2Pass& pass, const GradientPlaces& gradients, std::int64_t index) {
  const Gpt2Activations& kept = pass.kept;
  const Gpt2Activations::Block& block = kept.block(index);
  const AnySpan hidden = kept.hidden_gradient();
  linear_backward(pass, gradients, index, Layer::kMlpOut, block.hidden, kept.branch_gradient(),
                  hidden, block.before);
  linear_backward(pass, gradients, index, Layer::kMlpIn, kept.norm(2 * index + 1).y, hidden,
                  kept.input_gradient());
}

void attention_backward(const Gpt2Pass& pass, const GradientPlaces& gradients, std::int64_t index) {
  const Gpt2Activations& kept = pass.kept;
  const Gpt2Activations::Block& block = kept.block(index);
  linear_backward(pass, gradients, index, Layer::kAttentionOut, block.attended,
                  kept.branch_gradient(), kept.input_gradient());
  const AnySpan dqkv = kept.qkv_gradient();
  pass.on.enqueue(AttentionBackward{.shape = pass.shape.attention(kept.batch()),
                                    .qkv = block.qkv,
                                    .y = block.attended,
                                    .dy = kept.input_gradient(),
                                    .log_sums = block.log_sums,
                                    .dqkv = dqkv});
  linear_backward(pass, gradients, index, Layer::kAttentionIn, kept.norm(2 * index).y, dqkv,
                  kept.input_gradient());
}

// Rows of the position table that no sample reaches get a gradient of 0.
void embedding_backward(const Gpt2Pass& pass, const GradientPlaces& gradients) {
  const EmbeddingShape shape = pass.shape.embedding(pass.kept.batch());
  const Span<float> places = gradients.of(gpt2::kPositions);
  const std::int64_t reached = shape.positions * shape.width;
  pass.on.enqueue(EmbeddingBackward{.shape = shape,
                                    .ids = pass.ids,
                                    .dy = pass.kept.stream_gradient(),
                                    .dtokens = gradients.of(gpt2::kTokens),
                                    .dplaces = places.subspan(0, reached)});
  if (reached < places.size()) {
    pass.on.enqueue(Fill{.values = places.subspan(reached, places.size() - reached)});
  }
  gradients.sink.gradient_ready(gpt2::kPositions);
  gradients.sink.gradient_ready(gpt2::kTokens);
}

}  // namespace

// Forward's operations in reverse. stream_gradient() is the gradient of the residual stream, in
// place all the way; a norm adds the gradient that reached the stream through the norm's branch.
// Gradients are announced as autograd finishes them: of a linear layer the bias first, of a norm
// the gain. The token table's gradient is last: the head's product writes this gradient, the
// embedding adds to it.
void gpt2_backward(const Gpt2Pass& pass, const GradientPlaces& gradients) {
  head_backward(pass, gradients);
  norm_backward(pass, gradients, pass.norms() - 1);
  for (std::int64_t block = pass.shape.layers; block-- > 0;) {
    mlp_backward(pass, gradients, block);
    norm_backward(pass, gradients, 2 * block + 1);
    attention_backward(pass, gradients, block);
    norm_backward(pass, gradients, 2 * block);
  }
  embedding_backward(pass, gradients);
}

namespace {

using gpt2::Layer;

void add_norm(ParameterLayout& layout, const std::string& name, std::int64_t width) {
  layout.add(name + ".weight", {width});
  layout.add(name + ".bias", {width});
}

void add_linear(ParameterLayout& layout, const std::string& name, const LinearShape& shape) {
  layout.add(name + ".weight", {shape.out, shape.in});
  layout.add(name + ".bias", {shape.out});
}

void add_block(ParameterLayout& layout, const std::string& name, const Gpt2Shape& shape) {
  const auto of = [&](Layer layer) { return gpt2::linear_shape(shape, 1, layer); };
  add_norm(layout, name + ".ln_1", shape.width);
  add_linear(layout, name + ".attn.c_attn", of(Layer::kAttentionIn));
  add_linear(layout, name + ".attn.c_proj", of(Layer::kAttentionOut));
  add_norm(layout, name + ".ln_2", shape.width);
  add_linear(layout, name + ".mlp.c_fc", of(Layer::kMlpIn));
  add_linear(layout, name + ".mlp.c_proj", of(Layer::kMlpOut));
}

ParameterLayout layout_of(const Gpt2Shape& shape) {
  ParameterLayout layout;
  layout.add("transformer.wte.weight", {shape.vocabulary, shape.width});
  layout.add("transformer.wpe.weight", {shape.positions, shape.width});
  for (std::int64_t block = 0; block < shape.layers; ++block) {
    add_block(layout, fmt::format("transformer.h.{}", block), shape);
  }
  add_norm(layout, "transformer.ln_f", shape.width);
  return layout;
}

// The scale at which a distribution has this standard deviation: the deviation of [-1, 1) is
// 1/sqrt(3), that of -1, 0 and 1 is sqrt(2/3). Roots and quotients are exactly rounded everywhere.
float scale_for(float deviation, Distribution distribution) {
  return deviation * std::sqrt(distribution == Distribution::kUniform ? 3.0F : 1.5F);
}

}  // namespace

Gpt2::Gpt2(std::string name, const Gpt2Shape& shape)
    : name_(std::move(name)), shape_(shape), layout_(layout_of(shape)) {
  TANDEM_CHECK(shape.layers > 0 && shape.heads > 0 && shape.width > 0 &&
                   shape.width % shape.heads == 0 && shape.vocabulary > 0,
               "a GPT-2 of {} layers of {} with {} heads and {} tokens", shape.layers, shape.width,
               shape.heads, shape.vocabulary);
  TANDEM_CHECK(shape.sequence > 0 && shape.sequence <= shape.positions,
               "a sequence of {} of {} positions", shape.sequence, shape.positions);
}

int Gpt2::module_count() const { return 7 + 10 * static_cast<int>(shape_.layers); }

std::int64_t Gpt2::output_width() const { return shape_.sequence * shape_.vocabulary; }

Objective Gpt2::objective() const {
  return {.kind = ObjectiveKind::kCrossEntropy,
          .target_width = shape_.sequence,
          .classes = shape_.vocabulary};
}

double Gpt2::flops_per_sample() const {
  double block = static_cast<double>(attention_flops(shape_.attention(1)));
  for (const Layer layer : gpt2::kLayers) {
    block += static_cast<double>(product_flops(gpt2::linear_shape(shape_, 1, layer)));
  }
  const auto head = static_cast<double>(product_flops(shape_.head(1)));
  return 3 * (static_cast<double>(shape_.layers) * block + head);
}

void Gpt2::initialise(Executor on, const TensorList& parameters, std::uint64_t seed,
                      Distribution distribution) const {
  constexpr float kDeviation = 0.02F;
  const float plain = scale_for(kDeviation, distribution);
  const float added =
      scale_for(kDeviation / std::sqrt(static_cast<float>(2 * shape_.layers)), distribution);
  const Initialiser set{on, parameters, layout_, seed, distribution};
  set.random(gpt2::kTokens, plain);
  set.random(gpt2::kPositions, plain);
  for (std::int64_t norm = 0; norm < 2 * shape_.layers + 1; ++norm) {
    set.constant(gpt2::norm_segments(norm).gain, 1);
    set.constant(gpt2::norm_segments(norm).bias, 0);
  }
  for (std::int64_t block = 0; block < shape_.layers; ++block) {
    for (const Layer layer : gpt2::kLayers) {
      const bool adds = layer == Layer::kAttentionOut || layer == Layer::kMlpOut;
      const LinearSegments segments = gpt2::linear_segments(block, layer);
      set.random(segments.weight, adds ? added : plain);
      set.constant(segments.bias, 0);
    }
  }
}

std::unique_ptr<Activations> Gpt2::make_activations(Device& device, std::int64_t batch,
                                                    Precision precision,
                                                    OutputType output_type) const {
  return std::make_unique<Gpt2Activations>(device, shape_, layout_, batch, precision, output_type);
}

void Gpt2::forward(Executor on, const ConstTensorList& parameters, ModuleState& /*state*/,
                   Span<const float> input, Activations& activations) const {
  auto& kept = static_cast<Gpt2Activations&>(activations);
  gpt2_forward({on, shape_, {parameters, kept.copies()}, input, kept});
}

void Gpt2::backward(Executor on, const ConstTensorList& parameters, Span<const float> input,
                    Activations& activations, const TensorList& gradients,
                    GradientSink& sink) const {
  auto& kept = static_cast<Gpt2Activations&>(activations);
  gpt2_backward({on, shape_, {parameters, kept.copies()}, input, kept}, {gradients, sink});
}

namespace {

struct Size {
  std::string_view name;
  Gpt2Shape shape;  // sequence is the length of the position table
};

constexpr Gpt2Shape published(std::int64_t layers, std::int64_t heads, std::int64_t width) {
  return {layers, heads, width, 50257, 1024, 1024};
}

constexpr std::array kSizes{
    Size{"gpt2-nano", {2, 2, 64, 512, 32, 32}}, Size{"gpt2-124m", published(12, 12, 768)},
    Size{"gpt2-355m", published(24, 16, 1024)}, Size{"gpt2-774m", published(36, 20, 1280)},
    Size{"gpt2-1558m", published(48, 25, 1600)}};

std::int64_t sequence_of(const std::string& name, const Size& size, std::string_view text) {
  const std::int64_t most = size.shape.positions;
  const auto length = parse_number<std::int64_t>(text);
  if (length && *length >= 1 && *length <= most) return *length;
  fail(ErrorKind::kUsage, "model '{}': '{}' is no sequence length: use 1 to {}, such as {}:{}",
       name, text, most, size.name, most / 2);
}

}  // namespace

std::vector<std::string> gpt2_names() {
  std::vector<std::string> names;
  for (const Size& size : kSizes) names.emplace_back(size.name);
  return names;
}

std::unique_ptr<Model> make_gpt2(const std::string& name) {
  const std::size_t colon = name.find(':');
  const std::string_view family = std::string_view(name).substr(0, colon);
  const auto size = std::ranges::find(kSizes, family, &Size::name);
  if (size == kSizes.end()) return nullptr;
  Gpt2Shape shape = size->shape;
  if (colon != std::string::npos) {
    shape.sequence = sequence_of(name, *size, std::string_view(name).substr(colon + 1));
  }
  return std::make_unique<Gpt2>(name, shape);
}

}  // namespace tandem
