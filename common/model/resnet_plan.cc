// SPDX-License-Identifier: Apache-2.0
#include "common/model/resnet_plan.h"

#include <fmt/format.h>

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

}  // namespace tandem
