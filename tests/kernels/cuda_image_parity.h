// SPDX-License-Identifier: Apache-2.0
//
// What a convolutional network needs beside linear layers, held to the shares of cuda_tolerances.h;
// skipped where a back end has no operations on images.
#pragma once

#include <algorithm>

#include "tests/kernels/cuda_transformer_parity.h"
#include "tests/kernels/image_twins.h"

namespace tandem::test {

[[nodiscard]] inline std::string text_of(const ConvolutionShape& s) {
  return std::to_string(s.batch) + " x " + std::to_string(s.height) + " x " +
         std::to_string(s.width) + " x " + std::to_string(s.in) + " -> " + std::to_string(s.out) +
         ", kernel " + std::to_string(s.kernel) + ", stride " + std::to_string(s.stride);
}

template <class Backend>
class CudaImageParity : public CudaParity<Backend> {
 protected:
  void SetUp() override {
    CudaParity<Backend>::SetUp();
    if (this->IsSkipped()) return;
    const std::string lack = Backend::lack_of_images();
    if (!lack.empty()) GTEST_SKIP() << lack;
  }

  // From now on; false where this GPU has not that precision.
  bool lie(bool channels_last, Precision precision = Precision::kFp32) {
    channels_last_ = channels_last;
    return this->take(
        precision, {.fp32_factors = precision == Precision::kFp32, .channels_last = channels_last});
  }

  // (images, positions, channels), as they lie.
  template <class T>
  Twin<T> placed(Twin<T> twin, std::int64_t positions, std::int64_t channels) {
    if (!channels_last_) twin.put_channels_first(positions, channels);
    return twin;
  }

  template <class T>
  ConvolutionTwins<T> convolution(const ConvolutionShape& s,
                                  Distribution data = Distribution::kUniform) {
    const auto image = [&](Twin<T> twin) {
      return placed(std::move(twin), s.height * s.width, s.in);
    };
    const auto result = [&](Twin<T> twin) {
      return placed(std::move(twin), s.out_height() * s.out_width(), s.out);
    };
    const std::int64_t taps = s.kernel * s.kernel;
    return {s,
            image(this->template random<T>(s.input_count(), data)),
            placed(this->template random<T>(s.weight_count(), data), taps, s.in),
            result(this->template zeros<T>(s.output_count())),
            result(this->template random<T>(s.output_count(), data)),
            image(this->template zeros<T>(s.input_count())),
            placed(this->zeros(s.weight_count()), taps, s.in)};
  }

  // Every pass, within the share. Where weights are narrow, their gradient is rounded to them.
  template <class T>
  void expect_convolution_agrees(const ConvolutionShape& s, double share) {
    auto twins = convolution<T>(s);
    this->run_on_both([&](Side side) { return twins.forward(side); });
    expect_share(twins.y, share, "y");
    this->run_on_both([&](Side side) { return twins.backward_input(side); });
    expect_share(twins.dx, share, "dx");
    this->run_on_both([&](Side side) { return twins.backward_weight(side); });
    expect_share(twins.dweight, share, "dweight");
  }

  void expect_agreement(const ConvolutionShape& s, Precision precision) {
    const double share = share::of_convolution(precision);
    if (precision == Precision::kBf16) return expect_convolution_agrees<BFloat16>(s, share);
    expect_convolution_agrees<float>(s, share);
  }

  template <class T>
  BatchNormTwins<T> batch_norm(const BatchNormShape& s) {
    const std::int64_t all = s.rows * s.channels;
    const auto image = [&](Twin<T> twin) {
      return placed(std::move(twin), s.positions, s.channels);
    };
    return {s,
            image(this->template random<T>(all)),
            image(this->template random<T>(all)),
            image(this->template zeros<T>(all)),
            this->random(s.channels),
            this->random(s.channels),
            this->random(s.channels),
            this->random(s.channels),
            this->zeros(s.channels),
            this->zeros(s.channels),
            image(this->template random<T>(all)),
            image(this->template random<T>(all)),
            image(this->template zeros<T>(all)),
            this->zeros(s.channels),
            this->zeros(s.channels)};
  }

  // Backward is given the same y on both sides: a ReLU that is off on one side alone is another
  // gradient.
  template <class T>
  void expect_batch_norm_agrees(const BatchNormShape& s, const BatchNormCase& with) {
    const double of_y = std::is_same_v<T, float> ? share::kNorm : share::kBf16Rounding;
    auto twins = batch_norm<T>(s);
    this->run_on_both([&](Side side) { return twins.forward(side, with); });
    expect_share(twins.y, of_y, "y");
    expect_share(twins.mean, share::kCancelling, "mean");
    expect_share(twins.rstd, share::kNorm, "rstd");
    expect_share(twins.running_mean, share::kNorm, "running_mean");
    expect_share(twins.running_variance, share::kNorm, "running_variance");
    auto again = batch_norm<T>(s);
    again.mean.put(twins.mean.of_host());
    again.rstd.put(twins.rstd.of_host());
    again.y.put(twins.y.of_host());
    this->run_on_both([&](Side side) { return again.backward(side, with); });
    expect_share(again.dy, of_y, "dx");
    if (with.residual) expect_share(again.dresidual, of_y, "dresidual");
    expect_share(again.dgain, share::kCancelling, "dgain");
    expect_share(again.dbias, share::kCancelling, "dbias");
  }

  // Small integers, of which windows hold several that are the largest.
  template <class T>
  MaxPoolTwins<T> max_pool(const MaxPoolShape& s) {
    const Distribution data = Distribution::kSmallIntegers;
    const auto image = [&](Twin<T> twin) {
      return placed(std::move(twin), s.height * s.width, s.channels);
    };
    const auto pooled = [&](Twin<T> twin) {
      return placed(std::move(twin), s.out_height() * s.out_width(), s.channels);
    };
    return {s,
            image(this->template random<T>(s.input_count(), data)),
            pooled(this->template zeros<T>(s.output_count())),
            pooled(this->template random<T>(s.output_count(), data)),
            pooled(this->template random<T>(s.output_count(), data)),
            image(this->template zeros<T>(s.input_count()))};
  }

  template <class T>
  void expect_max_pools_agree(const MaxPoolShape& s) {
    auto twins = max_pool<T>(s);
    this->run_on_both([&](Side side) { return twins.forward(side); });
    expect_same(twins.y, "y");
    for (const bool above : {false, true}) {
      this->run_on_both([&](Side side) { return twins.backward(side, above); });
      expect_same(twins.dx, above ? "dx with dabove" : "dx");
    }
  }

  template <class T>
  void expect_average_pools_agree(const AveragePoolShape& s) {
    const double of_result = std::is_same_v<T, float> ? share::kAveragePool : share::kBf16Rounding;
    const auto image = [&] {
      return placed(this->template random<T>(s.batch * s.positions * s.channels), s.positions,
                    s.channels);
    };
    auto x = image();
    auto y = this->template random<T>(s.batch * s.channels);
    this->run_on_both([&](Side side) {
      return AveragePoolBackward{.shape = s, .dy = y.on(side), .dx = x.on(side)};
    });
    expect_share(x, of_result, "dx");
    auto other = image();
    this->run_on_both([&](Side side) {
      return AveragePoolForward{.shape = s, .x = other.on(side), .y = y.on(side)};
    });
    expect_share(y, of_result, "y");
  }

  bool channels_last_ = false;
};

TYPED_TEST_SUITE_P(CudaImageParity);

TYPED_TEST_P(CudaImageParity, Convolution_AgreesWithNaive_InEveryPrecision) {
  for (const Precision precision : kAllPrecisions) {
    for (const int how : {0, 1, 2, 3}) {
      const std::int64_t offset = how % 2;
      const bool last = how / 2 == 1;
      if (!this->lie(last, precision)) continue;
      this->offset_ = offset;
      for (const ConvolutionShape& shape : {ConvolutionShape{1, 5, 5, 1, 1, 1, 1, 0},
                                            {2, 7, 5, 3, 8, 7, 2, 3},
                                            {3, 9, 8, 8, 16, 3, 1, 1},
                                            {2, 9, 8, 8, 4, 3, 2, 1},
                                            {2, 6, 6, 8, 24, 1, 2, 0},
                                            {1, 4, 4, 16, 8, 1, 1, 0}}) {
        SCOPED_TRACE(std::string(name_of(precision)) + ", " + text_of(shape) + ", offset " +
                     std::to_string(offset) + (last ? ", channels last" : ", channels first"));
        this->expect_agreement(shape, precision);
      }
    }
  }
}

TYPED_TEST_P(CudaImageParity, Convolution_OfSmallIntegers_HasTheSameBits) {
  constexpr ConvolutionShape kShape{2, 9, 9, 8, 16, 3, 2, 1};
  for (const Precision precision : kAllPrecisions) {
    if (precision == Precision::kBf16 || !this->lie(false, precision)) continue;
    auto twins = this->template convolution<float>(kShape, Distribution::kSmallIntegers);
    this->run_on_both([&](Side s) { return twins.forward(s); });
    this->run_on_both([&](Side s) { return twins.backward_input(s); });
    this->run_on_both([&](Side s) { return twins.backward_weight(s); });
    expect_same(twins.y, "y");
    expect_same(twins.dx, "dx");
    expect_same(twins.dweight, "dweight");
  }
}

TYPED_TEST_P(CudaImageParity, BatchNorm_AgreesWithNaive) {
  for (const int how : {0, 1, 2, 3}) {
    this->offset_ = how % 2;
    this->lie(how / 2 == 1);
    for (const BatchNormShape& shape : {BatchNormShape{2, 1, 1},
                                        {9, 4, 9},
                                        {33, 7, 11},
                                        {128, 8, 64},
                                        {1000, 24, 100},
                                        {6400, 5, 64},
                                        {9408, 8, 3136},
                                        {4099, 64, 4099}}) {
      for (const BatchNormCase& with : {BatchNormCase{false, false, false},
                                        {false, true, false},
                                        {true, true, true},
                                        {true, false, false}}) {
        SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.channels) +
                     (with.residual ? " residual" : "") + (with.relu ? " relu" : ""));
        this->template expect_batch_norm_agrees<float>(shape, with);
        this->template expect_batch_norm_agrees<BFloat16>(shape, with);
      }
    }
  }
}

// Where all numbers lie far from zero, small differences alone make up the variance.
TYPED_TEST_P(CudaImageParity, BatchNorm_OfAMeanFarFromZero_KeepsItsVariance) {
  auto twins = this->template batch_norm<float>({500, 4, 50});
  this->run_on_both(
      [&](Side s) { return Scale{.in = twins.x.on(s), .out = twins.x.on(s), .factor = 0x1p-6F}; });
  this->run_on_both(
      [&](Side s) { return AddScalar{.tensors = {twins.x.on(s)}, .constant = 1000}; });
  this->run_on_both([&](Side s) { return twins.forward(s, {}); });
  expect_share(twins.rstd, 1e-4, "rstd");
  expect_share(twins.y, 1e-2, "y");  // the mean is rounded to 2^-14, a hundredth of the deviation
}

TYPED_TEST_P(CudaImageParity, MaxPool_HasTheSameBits) {
  for (const int how : {0, 1, 2, 3}) {
    this->offset_ = how % 2;
    this->lie(how / 2 == 1);
    for (const MaxPoolShape& shape :
         {MaxPoolShape{1, 1, 1, 1}, {2, 2, 3, 5}, {2, 7, 6, 8}, {3, 16, 15, 12}}) {
      SCOPED_TRACE(std::to_string(shape.height) + " x " + std::to_string(shape.width) + " x " +
                   std::to_string(shape.channels));
      this->template expect_max_pools_agree<float>(shape);
      this->template expect_max_pools_agree<BFloat16>(shape);
    }
  }
}

TYPED_TEST_P(CudaImageParity, MaxPool_OfNan_IsNan_AndSendsNothingThere) {
  auto twins = this->template max_pool<float>({1, 5, 5, 4});
  std::vector<float> values = twins.x.of_host();
  values[4 * 12] = std::nanf("");
  twins.x.put(values);
  this->run_on_both([&](Side s) { return twins.forward(s); });
  expect_same(twins.y, "y");
  this->run_on_both([&](Side s) { return twins.backward(s, false); });
  expect_same(twins.dx, "dx");
}

TYPED_TEST_P(CudaImageParity, AveragePool_AgreesWithNaive) {
  for (const int how : {0, 1, 2, 3}) {
    this->offset_ = how % 2;
    this->lie(how / 2 == 1);
    for (const AveragePoolShape& shape : {AveragePoolShape{1, 1, 1}, {3, 49, 7}, {4, 16, 32}}) {
      this->template expect_average_pools_agree<float>(shape);
      this->template expect_average_pools_agree<BFloat16>(shape);
    }
  }
}

TYPED_TEST_P(CudaImageParity, Results_AreTheSameBitsEveryTime) {
  auto twins = this->template convolution<float>({4, 14, 14, 32, 32, 3, 1, 1});
  auto norm = this->template batch_norm<float>({4099, 64, 4099});
  std::vector<float> first;
  for (int run = 0; run < 3; ++run) {
    this->run(twins.backward_weight(Side::kDevice));
    this->run(norm.forward(Side::kDevice, {}));
    std::vector<float> bits = twins.dweight.of_device();
    const std::vector<float> more = norm.y.of_device();
    bits.insert(bits.end(), more.begin(), more.end());
    if (run == 0) first = bits;
    EXPECT_EQ(bits, first) << "run " << run;
  }
}

REGISTER_TYPED_TEST_SUITE_P(CudaImageParity, Convolution_AgreesWithNaive_InEveryPrecision,
                            Convolution_OfSmallIntegers_HasTheSameBits, BatchNorm_AgreesWithNaive,
                            BatchNorm_OfAMeanFarFromZero_KeepsItsVariance, MaxPool_HasTheSameBits,
                            MaxPool_OfNan_IsNan_AndSendsNothingThere, AveragePool_AgreesWithNaive,
                            Results_AreTheSameBitsEveryTime);

}  // namespace tandem::test
