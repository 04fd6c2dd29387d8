// SPDX-License-Identifier: Apache-2.0
//
//   stream   tokens + positions --+--------------------------(+)--+-----------------(+)-- ... norm,
//   head branch                        norm, c_attn, attention, c_proj  norm, c_fc, GELU, c_proj
//                                 '------------- a block: attention, then MLP -------------'
//
// Each addition to the stream is one operation with the norm behind it.
#include "common/model/gpt2_passes.h"

namespace tandem {
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
  pass.on.enqueue(LinearForward{.shape = pass.shape.head(pass.kept.batch(), pass.kept.padding()),
                                .x = pass.kept.norm(pass.norms() - 1).y,
                                .weight = pass.parameters.factor(gpt2::kTokens),
                                .y = logits});
  if (pass.kept.copies() == nullptr) return;
  pass.on.enqueue(Convert{.in = logits,
                          .out = pass.kept.output(),
                          .columns = pass.shape.vocabulary,
                          .padding = pass.kept.padding()});
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
                     Layer layer, ConstAnySpan x, ConstAnySpan dy, AnySpan dx) {
  enqueue_linear_backward(pass.on, pass.parameters, gradients, gpt2::linear_segments(block, layer),
                          {gpt2::linear_shape(pass.shape, pass.kept.batch(), layer), x, dy, dx});
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
  if (kept.copies() != nullptr) {
    on.enqueue(Convert{.in = kept.output_gradient(),
                       .out = dlogits,
                       .columns = shape.vocabulary,
                       .padding = kept.padding()});
  }
  on.enqueue(LinearBackwardInput{.shape = shape.head(kept.batch(), kept.padding()),
                                 .dy = dlogits,
                                 .weight = pass.parameters.factor(gpt2::kTokens),
                                 .dx = kept.input_gradient()});
  on.enqueue(LinearBackwardWeight{.shape = shape.head(kept.batch()),
                                  .x = kept.norm(pass.norms() - 1).y,
                                  .dy = dlogits,
                                  .dweight = gradients.of(gpt2::kTokens),
                                  .padding = kept.padding()});
}

void mlp_backward(const Gpt2Pass& pass, const GradientPlaces& gradients, std::int64_t index) {
  const Gpt2Activations& kept = pass.kept;
  const Gpt2Activations::Block& block = kept.block(index);
  const AnySpan hidden = kept.hidden_gradient();
  linear_backward(pass, gradients, index, Layer::kMlpOut, block.hidden, kept.branch_gradient(),
                  hidden);
  pass.on.enqueue(GeluBackward{.before = block.before, .dy = hidden});
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

}  // namespace tandem
