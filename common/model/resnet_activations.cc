// SPDX-License-Identifier: Apache-2.0
#include "common/model/resnet_activations.h"

#include <algorithm>

namespace tandem {
namespace {

// The parameters that torch.autocast casts: convolutions and the head.
std::vector<int> cast_segments(const ResNetPlan& plan) {
  std::vector<int> segments;
  for (const ResNetUnit& unit : plan.units()) segments.push_back(unit.weight());
  segments.push_back(plan.head_weight());
  segments.push_back(plan.head_bias());
  return segments;
}

}  // namespace

ResNetActivations::ResNetActivations(Device& device, const ResNetPlan& plan,
                                     const ParameterLayout& layout, std::int64_t batch,
                                     Precision precision)
    : batch_(batch), type_(storage_of(precision)), tensors_(device) {
  add_units(plan);
  add_ends(plan);
  if (type_ == DType::kFloat32) return;
  input_ = tensors_.add(type_, batch * plan.stem().shape.input_count());
  copies_.emplace(device, type_, layout, cast_segments(plan));
}

void ResNetActivations::add_units(const ResNetPlan& plan) {
  std::int64_t largest = 0;
  std::int64_t largest_added = 0;
  const auto count_of = [&](const ResNetUnit& unit) { return batch_ * unit.shape.output_count(); };
  for (const ResNetUnit& unit : plan.units()) {
    units_.push_back({.before = tensors_.add(type_, count_of(unit)),
                      .after = {},
                      .mean = tensors_.add(unit.shape.out),
                      .rstd = tensors_.add(unit.shape.out)});
    largest = std::max(largest, count_of(unit));
  }
  for (AnySpan& gradient : gradients_) gradient = tensors_.add(type_, largest);
  std::vector<bool> is_added(units_.size());
  for (const ResNetBlock& block : plan.blocks()) {
    if (!block.has_downsample()) continue;
    is_added[static_cast<std::size_t>(block.downsample)] = true;
    largest_added = std::max(largest_added, count_of(plan.unit(block.downsample)));
  }
  const AnySpan added = tensors_.add(type_, largest_added);
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const std::int64_t count = units_[i].before.size();
    units_[i].after = is_added[i] ? added.subspan(0, count) : tensors_.add(type_, count);
  }
}

void ResNetActivations::add_ends(const ResNetPlan& plan) {
  const LinearShape head = plan.head(batch_);
  pooled_ = tensors_.add(type_, plan.max_pool(batch_).output_count());
  features_ = tensors_.add(type_, head.batch * head.in);
  features_gradient_ = tensors_.add(type_, head.batch * head.in);
  output_ = tensors_.add(head.batch * head.out);
  const bool is_wide = type_ == DType::kFloat32;
  logits_ = is_wide ? AnySpan(output_) : tensors_.add(type_, head.batch * head.out);
}

}  // namespace tandem
