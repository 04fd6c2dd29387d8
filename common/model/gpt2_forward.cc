// SPDX-License-Identifier: Apache-2.0
//
//   stream   tokens + positions --+--------------------------(+)--+-----------------(+)-- ... norm,
//   head branch                        norm, c_attn, attention, c_proj  norm, c_fc, GELU, c_proj
//                                 '------------- a block: attention, then MLP -------------'
//
// Each addition to the stream is one operation with the norm behind it.
#include "common/model/gpt2_layers.h"

namespace tandem {
namespace {

using gpt2::Layer;

void embed(const Gpt2Pass& pass) {
  const EmbeddingShape shape = pass.shape.embedding(pass.kept.batch());
  charge(pass.on, 4);  // positions by arange, both tables, their sum
  pass.on.operations.enqueue(
      pass.on.stream,
      EmbeddingForward{
          .shape = shape,
          .ids = pass.ids,
          .tokens = pass.fp32(gpt2::kTokens),
          .places = pass.fp32(gpt2::kPositions).subspan(0, shape.positions * shape.width),
          .y = pass.kept.norm(0).sum});
}

// Normalises the stream after adding the branch; the first norm has nothing to add.
void normalise(const Gpt2Pass& pass, std::int64_t index) {
  const Gpt2Activations::Norm& norm = pass.kept.norm(index);
  const NormSegments segments = gpt2::norm_segments(index);
  const bool adds = index > 0;
  charge(pass.on, adds ? 2 : 1);
  pass.on.operations.enqueue(
      pass.on.stream,
      LayerNormForward{.shape = pass.shape.norm(pass.kept.batch()),
                       .x = adds ? pass.kept.norm(index - 1).sum : norm.sum,
                       .branch = adds ? ConstAnySpan(pass.kept.branch()) : ConstAnySpan(),
                       .gain = pass.fp32(segments.gain),
                       .bias = pass.fp32(segments.bias),
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
          .weight = pass.factor(segments.weight),
          .bias = pass.factor(segments.bias),
          .y = y};
}

// Leaves in branch() the attention's addition to the stream.
void attend(const Gpt2Pass& pass, std::int64_t index) {
  const auto& [on, shape, parameters, ids, kept] = pass;
  const Gpt2Activations::Block& block = kept.block(index);
  const AnySpan x = kept.norm(2 * index).y;
  charge(on);
  on.operations.enqueue(on.stream, linear(pass, index, Layer::kAttentionIn, x, block.qkv));
  charge(on, 11);  // split: 1; view and transpose q, k, v: 6; attention: 1; and back: 3
  on.operations.enqueue(on.stream, AttentionForward{.shape = shape.attention(kept.batch()),
                                                    .qkv = block.qkv,
                                                    .y = block.attended,
                                                    .log_sums = block.log_sums});
  charge(on);
  on.operations.enqueue(on.stream,
                        linear(pass, index, Layer::kAttentionOut, block.attended, kept.branch()));
}

void apply_mlp(const Gpt2Pass& pass, std::int64_t index) {
  const Gpt2Activations::Block& block = pass.kept.block(index);
  const AnySpan x = pass.kept.norm(2 * index + 1).y;
  LinearForward in = linear(pass, index, Layer::kMlpIn, x, block.hidden);
  in.activation = Activation::kGelu;
  in.before = block.before;
  charge(pass.on, 2);
  pass.on.operations.enqueue(pass.on.stream, in);
  charge(pass.on);
  pass.on.operations.enqueue(pass.on.stream,
                             linear(pass, index, Layer::kMlpOut, block.hidden, pass.kept.branch()));
}

// Multiplies by the token table, without a bias.
void apply_head(const Gpt2Pass& pass) {
  const AnySpan logits = pass.kept.logits();
  charge(pass.on);
  pass.on.operations.enqueue(pass.on.stream,
                             LinearForward{.shape = pass.shape.head(pass.kept.batch()),
                                           .x = pass.kept.norm(pass.norms() - 1).y,
                                           .weight = pass.factor(gpt2::kTokens),
                                           .y = logits});
  if (pass.kept.copies() == nullptr) return;
  pass.on.operations.enqueue(pass.on.stream, Convert{.in = logits, .out = pass.kept.output()});
}

}  // namespace

void gpt2_forward(const Gpt2Pass& pass) {
  if (ParameterCopies* const copies = pass.kept.copies()) copies->cast(pass.on, pass.parameters);
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

}  // namespace tandem
