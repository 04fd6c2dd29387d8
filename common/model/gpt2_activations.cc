// SPDX-License-Identifier: Apache-2.0
#include "common/model/gpt2_activations.h"

#include "common/base/rounding.h"

namespace tandem {
namespace {

// The parameters that torch.autocast casts: those of the linear layers, and the token table for the
// head.
std::vector<int> cast_segments(const Gpt2Shape& shape) {
  std::vector<int> segments{gpt2::kTokens};
  for (std::int64_t block = 0; block < shape.layers; ++block) {
    for (const gpt2::Layer layer : gpt2::kLayers) {
      const LinearSegments linear = gpt2::linear_segments(block, layer);
      segments.push_back(linear.weight);
      segments.push_back(linear.bias);
    }
  }
  return segments;
}

// To whole packs of 16 bytes on GPUs, where products of rows of other lengths take several times as
// long.
std::int64_t padding_of(const Device& device, DType type, std::int64_t vocabulary) {
  constexpr std::int64_t kPack = 8;
  const bool is_padded = device.id().backend == Backend::kCuda && type != DType::kFloat32;
  return is_padded ? round_up(vocabulary, kPack) - vocabulary : 0;
}

}  // namespace

Gpt2Activations::Gpt2Activations(Device& device, const Gpt2Shape& shape,
                                 const ParameterLayout& layout, std::int64_t batch,
                                 Precision precision, OutputType output_type)
    : batch_(batch),
      rows_(shape.rows(batch)),
      width_(shape.width),
      type_(storage_of(precision)),
      padding_(padding_of(device, type_, shape.vocabulary)),
      tensors_(device) {
  add_norms(2 * shape.layers + 1);
  add_blocks(shape);
  add_shared(shape, output_type);
  if (type_ == DType::kFloat32) return;
  copies_.emplace(device, type_, layout, cast_segments(shape), padding_ * width_);
}

void Gpt2Activations::add_norms(std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    norms_.push_back({.sum = tensors_.add(rows_ * width_),
                      .y = tensors_.add(type_, rows_ * width_),
                      .mean = tensors_.add(rows_),
                      .rstd = tensors_.add(rows_)});
  }
}

void Gpt2Activations::add_blocks(const Gpt2Shape& shape) {
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    blocks_.push_back({.qkv = tensors_.add(type_, rows_ * 3 * width_),
                       .attended = tensors_.add(type_, rows_ * width_),
                       .log_sums = tensors_.add(rows_ * shape.heads),
                       .before = tensors_.add(type_, rows_ * shape.hidden()),
                       .hidden = tensors_.add(type_, rows_ * shape.hidden())});
  }
}

void Gpt2Activations::add_shared(const Gpt2Shape& shape, OutputType output_type) {
  const bool is_wide = type_ == DType::kFloat32;
  logits_ = tensors_.add(type_, rows_ * (shape.vocabulary + padding_));
  const bool is_cast = output_type == OutputType::kFp32 && !is_wide;
  output_ = is_cast ? AnySpan(tensors_.add(logits_.size())) : logits_;
  shared_ = tensors_.add(type_, rows_ * width_);
  wide_ = tensors_.add(type_, rows_ * shape.hidden());
  stream_gradient_ = tensors_.add(rows_ * width_);
  branch_gradient_ = is_wide ? AnySpan(stream_gradient_) : tensors_.add(type_, rows_ * width_);
}

}  // namespace tandem
