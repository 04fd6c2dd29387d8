// SPDX-License-Identifier: Apache-2.0
#include "common/model/resnet_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace tandem {

namespace {

constexpr std::int64_t kColours = 3;
constexpr std::int64_t kExpansion = 4;

ConvolutionShape square(std::int64_t size, std::int64_t in, std::int64_t out, std::int64_t kernel,
                        std::int64_t stride) {
  return {.batch = 1,
          .height = size,
          .width = size,
          .in = in,
          .out = out,
          .kernel = kernel,
          .stride = stride,
          .padding = kernel / 2};
}

}  // namespace

ResNetPlan::ResNetPlan(const ResNetSizes& sizes)
    : classes_(sizes.classes), stages_(std::ssize(sizes.stages)) {
  TANDEM_CHECK(sizes.image > 0 && sizes.classes > 0 && sizes.stem > 0 && stages_ > 0,
               "a ResNet of {} stages for images of {} in {} classes", stages_, sizes.image,
               sizes.classes);
  add_unit("conv1", "bn1", square(sizes.image, kColours, sizes.stem, 7, 2));
  at_ = {max_pool(1).out_height(), sizes.stem};
  for (std::int64_t stage = 0; stage < stages_; ++stage) {
    const ResNetStage& of = sizes.stages[static_cast<std::size_t>(stage)];
    for (std::int64_t block = 0; block < of.blocks; ++block) {
      add_block(fmt::format("layer{}.{}", stage + 1, block), of, block == 0 ? of.stride : 1);
    }
  }
}

int ResNetPlan::add_unit(const std::string& convolution, const std::string& norm,
                         ConvolutionShape shape) {
  const auto index = static_cast<int>(units_.size());
  units_.push_back({convolution, norm, shape, index});
  return index;
}

void ResNetPlan::add_block(const std::string& name, const ResNetStage& stage, std::int64_t stride) {
  const std::int64_t out = kExpansion * stage.width;
  const std::int64_t small = window_count(at_.size, 3, stride, 1);
  ResNetBlock& block = blocks_.emplace_back();
  block.reduce =
      add_unit(name + ".conv1", name + ".bn1", square(at_.size, at_.channels, stage.width, 1, 1));
  block.spatial = add_unit(name + ".conv2", name + ".bn2",
                           square(at_.size, stage.width, stage.width, 3, stride));
  block.expand = add_unit(name + ".conv3", name + ".bn3", square(small, stage.width, out, 1, 1));
  if (stride != 1 || at_.channels != out) {
    block.downsample = add_unit(name + ".downsample.0", name + ".downsample.1",
                                square(at_.size, at_.channels, out, 1, stride));
  }
  at_ = {small, out};
}

MaxPoolShape ResNetPlan::max_pool(std::int64_t samples) const {
  const ConvolutionShape& shape = stem().shape;
  return {samples, shape.out_height(), shape.out_width(), shape.out};
}

AveragePoolShape ResNetPlan::average_pool(std::int64_t samples) const {
  return {samples, at_.size * at_.size, at_.channels};
}

LinearShape ResNetPlan::head(std::int64_t samples) const {
  return {samples, at_.channels, classes_};
}

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
                                     Precision precision, OutputType output_type)
    : batch_(batch), type_(storage_of(precision)), tensors_(device) {
  add_units(plan);
  add_ends(plan, output_type);
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

void ResNetActivations::add_ends(const ResNetPlan& plan, OutputType output_type) {
  const LinearShape head = plan.head(batch_);
  pooled_ = tensors_.add(type_, plan.max_pool(batch_).output_count());
  features_ = tensors_.add(type_, head.batch * head.in);
  features_gradient_ = tensors_.add(type_, head.batch * head.in);
  logits_ = tensors_.add(type_, head.batch * head.out);
  const bool is_cast = output_type == OutputType::kFp32 && type_ != DType::kFloat32;
  output_ = is_cast ? AnySpan(tensors_.add(logits_.size())) : logits_;
}

}  // namespace tandem
