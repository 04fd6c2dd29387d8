// SPDX-License-Identifier: Apache-2.0
#include "simulate/cost/kernel_time.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tandem {
namespace {

constexpr double kTile = 128;        // rows and columns of a product in one piece of work
constexpr double kLeastTile = 8;     // of products with fewer rows or columns
constexpr double kSplitDepth = 512;  // terms from which a sum is split among multiprocessors

// FLOP per second of products at best; without units for the type those of fp32 compute it.
double peak_of(const GpuDescription& gpu, NumberType type) {
  const auto or_plain = [&](const std::optional<SourcedFigure<double>>& peak) {
    return peak ? peak->value : gpu.fp32.value;
  };
  switch (type) {
    case NumberType::kTf32:
      return or_plain(gpu.tf32);
    case NumberType::kFp16:
      return or_plain(gpu.fp16 ? gpu.fp16 : gpu.bf16);
    case NumberType::kBf16:
      return or_plain(gpu.bf16);
    case NumberType::kFp32:
    case NumberType::kFp64:
    case NumberType::kOther:
      break;
  }
  return gpu.fp32.value;
}

// Computed without tensor cores. An RTX 3090's peak is one in tf32 and fp32, but not what is
// reached.
bool is_plain(const GpuDescription& gpu, NumberType type) {
  if (type == NumberType::kTf32) return !gpu.tf32;
  return peak_of(gpu, type) <= gpu.fp32.value;
}

bool is_convolution(KernelKind kind) {
  return kind == KernelKind::kConvolution || kind == KernelKind::kConvolutionInput ||
         kind == KernelKind::kConvolutionWeight;
}

double bytes_of(const ListedKernel& kernel) {
  const auto names = sizes_of(kernel.kind);
  const auto found = std::ranges::find(names, "bytes");
  return static_cast<double>(kernel.sizes.at(static_cast<std::size_t>(found - names.begin())));
}

// Products (rows, depth) times (depth, columns), all alike.
struct Products {
  double count = 1;
  double rows = 1;
  double columns = 1;
  double depth = 1;
};

// A convolution by its sizes.
struct Convolution {
  double batch, channels, features, positions, pixels, window, groups;

  explicit Convolution(const ListedKernel& kernel)
      : batch(static_cast<double>(kernel.sizes[0])),
        channels(static_cast<double>(kernel.sizes[1])),
        features(static_cast<double>(kernel.sizes[2])),
        positions(static_cast<double>(kernel.sizes[3])),
        pixels(static_cast<double>(kernel.sizes[4])),
        window(static_cast<double>(kernel.sizes[5])),
        groups(std::max(1.0, static_cast<double>(kernel.sizes[6]))) {}

  [[nodiscard]] double group_channels() const { return channels / groups; }
  [[nodiscard]] bool is_depthwise() const { return groups > 1 && groups == channels; }
  [[nodiscard]] bool is_grouped() const { return groups > 1 && groups != channels; }
  [[nodiscard]] bool skips_pixels() const { return pixels > 1.5 * positions; }
  [[nodiscard]] double flops() const {
    return 2 * batch * positions * features * group_channels() * window;
  }
  // Each group is a product of its windows.
  [[nodiscard]] Products products(KernelKind kind) const {
    const double terms = group_channels() * window;
    const double made = features / groups;
    if (kind == KernelKind::kConvolutionWeight) return {groups, made, terms, batch * positions};
    if (kind == KernelKind::kConvolution) return {groups, batch * positions, made, terms};
    const double reached = std::max(1.0, made * window * positions / std::max(1.0, pixels));
    return {groups, batch * pixels, group_channels(), reached};
  }
};

class Pricing {
 public:
  Pricing(const GpuDescription& gpu, const KernelCosts& costs, const ListedKernel& kernel)
      : gpu_(gpu), costs_(costs), kernel_(kernel) {}

  [[nodiscard]] double seconds() const { return work() + costs_.floor * least(); }

 private:
  [[nodiscard]] double work() const {
    if (kernel_.kind == KernelKind::kProduct) return product();
    if (is_convolution(kernel_.kind)) return convolution(Convolution(kernel_));
    switch (kernel_.kind) {
      case KernelKind::kAttention:
        return costs_.attention * computed(flops_of(kernel_));
      case KernelKind::kAttentionBackward:
        return costs_.attention_backward * computed(flops_of(kernel_));
      case KernelKind::kRecurrence:
      case KernelKind::kRecurrenceBackward:
        return costs_.recurrence * computed(flops_of(kernel_)) +
               costs_.recurrence_step * least() * static_cast<double>(kernel_.sizes[1]);
      default:
        return moving_factor() * moved(bytes_of(kernel_));
    }
  }

  // A kind's factor on the time of its bytes.
  [[nodiscard]] double moving_factor() const {
    const bool is_last = kernel_.layout == KernelLayout::kLast;
    const bool is_strided = kernel_.layout == KernelLayout::kStrided;
    switch (kernel_.kind) {
      case KernelKind::kBatchNorm:
        return is_last ? costs_.batch_norm_last : costs_.batch_norm_first;
      case KernelKind::kBatchNormBackward:
        return is_last ? costs_.batch_norm_backward_last : costs_.batch_norm_backward_first;
      case KernelKind::kNativeBatchNorm:
        return is_last ? costs_.native_batch_norm_last : costs_.native_batch_norm_first;
      case KernelKind::kNativeBatchNormBackward:
        return is_last ? costs_.native_batch_norm_backward_last
                       : costs_.native_batch_norm_backward_first;
      case KernelKind::kLayerNorm:
        return costs_.layer_norm;
      case KernelKind::kLayerNormBackward:
        return costs_.layer_norm_backward;
      case KernelKind::kSoftmax:
        return costs_.softmax;
      case KernelKind::kSoftmaxBackward:
        return costs_.softmax_backward;
      case KernelKind::kPooling:
        return costs_.pooling;
      case KernelKind::kPoolingBackward:
        return costs_.pooling_backward;
      case KernelKind::kReduction:
        return is_last ? costs_.reduction_last : costs_.reduction;
      case KernelKind::kGather:
        return costs_.gather;
      case KernelKind::kScatter:
        return costs_.scatter;
      case KernelKind::kCopy:
        return is_strided ? costs_.strided : costs_.copy;
      case KernelKind::kConcatenation:
        return costs_.concatenation;
      case KernelKind::kFill:
        return costs_.fill;
      case KernelKind::kUpdate:
        return costs_.update;
      default:
        return is_strided ? costs_.strided : costs_.pointwise;
    }
  }

  [[nodiscard]] double product() const {
    const Products all{static_cast<double>(kernel_.sizes[0]), static_cast<double>(kernel_.sizes[1]),
                       static_cast<double>(kernel_.sizes[2]),
                       static_cast<double>(kernel_.sizes[3])};
    const double factor = all.count > 1 ? costs_.batched_product : costs_.product;
    return of_products(factor * shape_factor(all) * depth_factor(all));
  }

  [[nodiscard]] double convolution(const Convolution& shape) const {
    if (shape.is_depthwise()) return depthwise(shape);
    const Products products = shape.products(kernel_.kind);
    const double factor =
        shape.is_grouped() ? grouped_factor(shape) : dense_factor(shape, products);
    return of_products(factor * depth_factor(products)) + relaying();
  }

  [[nodiscard]] double dense_factor(const Convolution& shape, const Products& products) const {
    const double first = kernel_.layout == KernelLayout::kFirst ? costs_.first : 1;
    // Directions and windows differ on tensor cores alone.
    return first * (is_plain() ? 1 : window_factor(shape)) * shape_factor(products);
  }

  // Images whose channels come first are copied for tensor cores, which take channels last.
  [[nodiscard]] double relaying() const {
    if (kernel_.layout != KernelLayout::kFirst || is_plain()) return 0;
    return (is_for_weight() ? costs_.relaid_weight : costs_.relaid) * moved(bytes_of(kernel_));
  }

  // A direction's factors on its convolutions.
  struct WindowCosts {
    double window, point, strided;
  };
  [[nodiscard]] WindowCosts window_costs() const {
    if (is_for_weight()) return {costs_.weight, costs_.weight_point, costs_.weight_strided};
    if (kernel_.kind == KernelKind::kConvolutionInput) {
      return {costs_.input, costs_.input_point, costs_.input_strided};
    }
    return {costs_.forward, costs_.forward_point, costs_.forward_strided};
  }

  [[nodiscard]] double window_factor(const Convolution& shape) const {
    const WindowCosts costs = window_costs();
    const double factor = (shape.window == 1 ? costs.point : costs.window) *
                          (shape.skips_pixels() ? costs.strided : 1);
    if (shape.channels >= kLeastTile) return factor;
    return factor * (is_for_weight() ? costs_.thin_weight : costs_.thin);
  }

  [[nodiscard]] double grouped_factor(const Convolution& shape) const {
    const double width = shape.group_channels();
    const double further = is_for_weight() ? costs_.grouped_weight : 1;
    if (kernel_.layout == KernelLayout::kFirst) {
      return further * costs_.grouped_first * (1 + costs_.grouped_first_width / width);
    }
    // cuDNN has quick kernels for channels last where 8 divides the groups.
    if (std::fmod(shape.groups, 8) == 0) {
      return further * costs_.grouped_eight * (1 + costs_.grouped_eight_width / width);
    }
    return further * costs_.grouped_last * (1 + costs_.grouped_last_width / width);
  }

  [[nodiscard]] double depthwise(const Convolution& shape) const {
    const double bytes = moved(bytes_of(kernel_));
    const double terms = shape.flops() / gpu_.fp32.value;
    if (kernel_.layout == KernelLayout::kFirst) {
      return (costs_.depthwise_first * bytes + costs_.depthwise_first_terms * terms) *
             (is_for_weight() ? costs_.depthwise_first_weight : 1) *
             (shape.window > 25 ? costs_.depthwise_first_large : 1) *
             (is_plain() || kernel_.type == NumberType::kTf32 ? costs_.depthwise_plain : 1);
    }
    return (costs_.depthwise_last * bytes + costs_.depthwise_last_terms * terms) *
           (is_for_weight() ? costs_.depthwise_last_weight : 1) *
           (shape.window > 49 ? costs_.depthwise_last_large : 1);
  }

  [[nodiscard]] double depth_factor(const Products& all) const {
    return 1 + costs_.half_depth / all.depth;
  }

  // What multiprocessors without a piece of the output, edges of pieces and narrow pieces add.
  [[nodiscard]] double shape_factor(const Products& all) const {
    const double high = tile_of(all.rows);
    const double wide = tile_of(all.columns);
    const double pieces = std::ceil(all.rows / high) * std::ceil(all.columns / wide) * all.count;
    const double processors = gpu_.multiprocessors.value;
    const double splits = std::max(
        1.0, std::min(std::floor(all.depth / kSplitDepth), std::ceil(2 * processors / pieces)));
    const double waves = std::ceil(pieces * splits / processors);
    const double busy = pieces * splits / (waves * processors);
    const double edges = all.rows / (std::ceil(all.rows / high) * high) * all.columns /
                         (std::ceil(all.columns / wide) * wide);
    const double narrow = 1 + costs_.narrow * ((kTile / wide - 1) + (kTile / high - 1)) / 2;
    return narrow / (busy * edges);
  }

  static double tile_of(double length) {
    const auto whole = static_cast<std::uint64_t>(std::clamp(length, kLeastTile, kTile));
    return static_cast<double>(std::bit_ceil(whole));
  }

  // Computing and moving overlap, but not wholly where both are long.
  [[nodiscard]] double of_products(double factor) const {
    const double computing = factor * plain_factor() * computed(flops_of(kernel_));
    const double moving = costs_.operands * moved(bytes_of(kernel_));
    return std::cbrt(computing * computing * computing + moving * moving * moving);
  }

  // What products and convolutions take longer, or shorter, without tensor cores.
  [[nodiscard]] double plain_factor() const {
    if (!is_plain()) return 1;
    if (!is_convolution(kernel_.kind)) return costs_.plain;
    return costs_.plain_convolution * (has_winograd(Convolution(kernel_)) ? costs_.winograd : 1);
  }

  // cuDNN convolves windows of 3 x 3 pixels by Winograd's way, with up to four times fewer
  // products.
  static bool has_winograd(const Convolution& shape) {
    return shape.window == 9 && !shape.skips_pixels() && !shape.is_grouped() &&
           shape.channels >= kLeastTile;
  }

  [[nodiscard]] bool is_for_weight() const {
    return kernel_.kind == KernelKind::kConvolutionWeight;
  }

  [[nodiscard]] bool is_plain() const { return tandem::is_plain(gpu_, kernel_.type); }
  [[nodiscard]] double computed(double flops) const {
    return flops / (peak_of(gpu_, kernel_.type) * gpu_.product_share.value);
  }
  [[nodiscard]] double moved(double bytes) const {
    return bytes / (gpu_.memory_bandwidth.value * gpu_.memory_share.value);
  }
  [[nodiscard]] double least() const {
    return 1e-9 * static_cast<double>(gpu_.least_time.value.count());
  }

  const GpuDescription& gpu_;
  const KernelCosts& costs_;
  const ListedKernel& kernel_;
};

}  // namespace

double flops_of(const ListedKernel& kernel) {
  const auto size = [&](std::size_t index) { return static_cast<double>(kernel.sizes.at(index)); };
  if (is_convolution(kernel.kind)) return Convolution(kernel).flops();
  switch (kernel.kind) {
    case KernelKind::kProduct:
      return 2 * size(0) * size(1) * size(2) * size(3);
    case KernelKind::kAttention:
      return 4 * size(0) * size(1) * size(2) * size(3);
    case KernelKind::kAttentionBackward:
      return 8 * size(0) * size(1) * size(2) * size(3);
    case KernelKind::kRecurrence:
    case KernelKind::kRecurrenceBackward:
      return size(0);
    default:
      return 0;
  }
}

bool is_plain_product(const GpuDescription& gpu, const ListedKernel& kernel) {
  return flops_of(kernel) > 0 && is_plain(gpu, kernel.type);
}

double kernel_seconds(const GpuDescription& gpu, const ListedKernel& kernel,
                      const KernelCosts& costs) {
  return Pricing(gpu, costs, kernel).seconds();
}

Nanoseconds kernel_time(const GpuDescription& gpu, const ListedKernel& kernel) {
  return Nanoseconds{std::llround(1e9 * kernel_seconds(gpu, kernel))};
}

}  // namespace tandem
