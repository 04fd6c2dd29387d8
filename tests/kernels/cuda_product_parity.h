// SPDX-License-Identifier: Apache-2.0
//
// The linear operations, in every precision that the GPU has. In the Frobenius norm
//   |actual - naive| <= (k + 4) u |a| |b| + r |a| |b| + 2 v |naive| + v |vector| sqrt(rows)
// which is the usual bound for an inner dimension of k, summed in fp32 in any order, u = 2^-24; r
// is what rounding the factors adds, 2^-10 for tf32 (two, each to 2^-11), else 0; v is the unit
// roundoff of the result's type, 2^-24 or 2^-8, once more where a bias is added apart. On small
// integers all sums are exact in each precision, and so are results of fp32.
//
// A back end has, besides, kLarge: a layer whose inner dimensions a library may well split.
#pragma once

#include "tests/kernels/cuda_parity.h"

namespace tandem::test {

inline constexpr Precision kAllPrecisions[] = {Precision::kFp32, Precision::kTf32,
                                               Precision::kBf16};

// Every operand of one linear layer, of type T, and the gradients of the layer's parameters.
template <class T>
struct LinearTwins {
  LinearShape shape;
  Twin<T> x;
  Twin<T> weight;
  Twin<T> bias;
  Twin<T> y;
  Twin<T> before;
  Twin<T> dy;
  Twin<T> dx;
  Twin<float> dweight;
  Twin<float> dbias;

  [[nodiscard]] LinearForward forward(Side s, Activation activation, bool biased) {
    return {.shape = shape,
            .x = x.on(s),
            .weight = weight.on(s),
            .bias = biased ? ConstAnySpan(bias.on(s)) : ConstAnySpan{},
            .y = y.on(s),
            .activation = activation,
            .before = activation == Activation::kGelu ? AnySpan(before.on(s)) : AnySpan{}};
  }
  [[nodiscard]] LinearBackwardInput backward_input(Side s) {
    return {.shape = shape, .dy = dy.on(s), .weight = weight.on(s), .dx = dx.on(s)};
  }
  [[nodiscard]] LinearBackwardInput backward_through_gelu(Side s) {
    LinearBackwardInput op = backward_input(s);
    op.before = x.on(s);
    return op;
  }
  [[nodiscard]] LinearBackwardWeight backward_weight(Side s, bool biased) {
    return {.shape = shape,
            .x = x.on(s),
            .dy = dy.on(s),
            .dweight = dweight.on(s),
            .dbias = biased ? dbias.on(s) : Span<float>{}};
  }
};

// What rounding leaves: of factors and of results.
struct Roundings {
  double factors = 0;
  double result = 0x1p-24;
};

template <class T>
void expect_close(const Twin<T>& result, double norms_of_factors, std::int64_t inner,
                  const Roundings& roundings, double vector_part, const std::string& what) {
  const double sums = static_cast<double>(inner + 4) * 0x1p-24 + roundings.factors;
  const double bound =
      sums * norms_of_factors + roundings.result * (2 * norm(result.of_host()) + vector_part);
  EXPECT_LE(distance(result.of_device(), result.of_host()), bound) << what;
}

template <class Backend>
class CudaProductParity : public CudaParity<Backend> {
 protected:
  template <class T>
  LinearTwins<T> layer(const LinearShape& s, Distribution data) {
    const auto of = [&](std::int64_t count) { return this->template random<T>(count, data); };
    return {s,
            of(s.batch * s.in),
            of(s.out * s.in),
            of(s.out),
            of(s.batch * s.out),
            of(s.batch * s.out),
            of(s.batch * s.out),
            of(s.batch * s.in),
            this->random(s.out * s.in),
            this->random(s.out)};
  }

  // Every operation of one layer, on random numbers and on small integers.
  template <class T>
  void expect_layer_agrees(const LinearShape& s, Precision precision) {
    const bool narrow = precision == Precision::kBf16;
    const Roundings result{.factors = precision == Precision::kTf32 ? 0x1p-10 : 0,
                           .result = narrow ? 0x1p-8 : 0x1p-24};
    const Roundings parameter{.factors = result.factors};
    for (const Distribution data : {Distribution::kUniform, Distribution::kSmallIntegers}) {
      auto twins = layer<T>(s, data);
      for (const bool biased : {true, false}) {
        expect_gelu_agrees(twins, biased, result);
        for (const Activation activation : {Activation::kNone, Activation::kRelu}) {
          this->run_on_both([&](Side side) { return twins.forward(side, activation, biased); });
          expect_close(twins.y, norm(twins.x.of_host()) * norm(twins.weight.of_host()), s.in,
                       result, bias_part(twins), "y");
        }
        this->run_on_both([&](Side side) { return twins.backward_weight(side, biased); });
        expect_close(twins.dweight, norm(twins.x.of_host()) * norm(twins.dy.of_host()), s.batch,
                     parameter, 0, "dweight");
        // As if multiplied by a column of ones; never rounded to tf32, but held to no more.
        expect_close(twins.dbias,
                     norm(twins.dy.of_host()) * std::sqrt(static_cast<double>(s.batch)), s.batch,
                     parameter, 0, "dbias");
      }
      this->run_on_both([&](Side side) { return twins.backward_input(side); });
      expect_close(twins.dx, norm(twins.dy.of_host()) * norm(twins.weight.of_host()), s.out, result,
                   0, "dx");
      if (data == Distribution::kSmallIntegers) expect_exact(twins);
      expect_gelu_backward_agrees(twins, result);
    }
  }

  template <class T>
  static double bias_part(const LinearTwins<T>& twins) {
    return norm(twins.bias.of_host()) * std::sqrt(static_cast<double>(twins.shape.batch));
  }

  // A slope of GELU is 1.13 at most. The library does not say how exact its GELU is: what a
  // hardware tanh, good to 2^-11, would leave is allowed for.
  template <class T>
  void expect_gelu_agrees(LinearTwins<T>& twins, bool biased, const Roundings& result) {
    this->run_on_both([&](Side side) { return twins.forward(side, Activation::kGelu, biased); });
    const double factors = norm(twins.x.of_host()) * norm(twins.weight.of_host());
    expect_close(twins.before, factors, twins.shape.in, result, bias_part(twins),
                 "what GELU is given");
    const double of_gelu = norm(twins.before.of_host()) * (2 + 0x1p-10 / result.result);
    expect_close(twins.y, 1.13 * factors, twins.shape.in, result, bias_part(twins) + of_gelu,
                 "y of GELU");
  }

  // dx holds the product before. An own kernel rounds that, too.
  template <class T>
  void expect_gelu_backward_agrees(LinearTwins<T>& twins, const Roundings& result) {
    const double product = norm(twins.dx.of_host());
    this->run_on_both([&](Side side) { return twins.backward_through_gelu(side); });
    expect_close(twins.dx, 1.13 * norm(twins.dy.of_host()) * norm(twins.weight.of_host()),
                 twins.shape.out, result,
                 product * (2 + share::kGeluBackwardOfLibrary / result.result), "dx through GELU");
  }

  template <class T>
  static void expect_exact(const LinearTwins<T>& twins) {
    expect_same(twins.dweight, "dweight of integers");
    expect_same(twins.dbias, "dbias of integers");
    if constexpr (std::is_same_v<T, float>) {
      expect_same(twins.y, "y of integers");
      expect_same(twins.dx, "dx of integers");
    }
  }

  template <class T>
  void expect_padded_gradient_has_the_same_bits(const LinearShape& s, std::int64_t padding) {
    auto twins = layer<T>({s.batch, s.in, s.out + padding}, Distribution::kSmallIntegers);
    auto dweight = this->random(s.out * s.in);
    this->run_on_both([&](Side side) {
      return LinearBackwardWeight{.shape = s,
                                  .x = twins.x.on(side),
                                  .dy = twins.dy.on(side),
                                  .dweight = dweight.on(side),
                                  .padding = padding};
    });
    expect_same(dweight, "dweight");
  }

  void expect_agreement(const LinearShape& s, Precision precision) {
    if (precision == Precision::kBf16) return expect_layer_agrees<BFloat16>(s, precision);
    expect_layer_agrees<float>(s, precision);
  }

  // Every operation of a layer twice; the memory in use between the two.
  template <class T>
  MemoryUse run_twice(LinearTwins<T>& twins) {
    for (int step = 0; step < 2; ++step) {
      this->run(twins.forward(Side::kDevice, Activation::kRelu, true));
      this->run(twins.backward_input(Side::kDevice));
      this->run(twins.backward_weight(Side::kDevice, true));
    }
    return this->device().memory();
  }
};

TYPED_TEST_SUITE_P(CudaProductParity);

TYPED_TEST_P(CudaProductParity, Layers_AgreeWithNaive_InEveryPrecision) {
  const LinearShape shapes[] = {{1, 1, 1},    {1, 16, 8},    {1, 1024, 3},   {2, 1, 5},   {3, 5, 7},
                                {17, 33, 65}, {64, 128, 32}, {63, 255, 101}, {256, 64, 1}};
  for (const Precision precision : kAllPrecisions) {
    if (!this->take(precision)) continue;
    for (const LinearShape& shape : shapes) {
      SCOPED_TRACE(std::string(name_of(precision)) + ", " + std::to_string(shape.batch) + " x " +
                   std::to_string(shape.in) + " -> " + std::to_string(shape.out));
      this->expect_agreement(shape, precision);
    }
  }
}

TYPED_TEST_P(CudaProductParity, UnalignedOperands_AgreeWithNaive) {
  for (const std::int64_t offset : {1, 2, 4}) {
    this->offset_ = offset;
    for (const Precision precision : kAllPrecisions) {
      if (!this->take(precision)) continue;
      SCOPED_TRACE(std::string(name_of(precision)) + ", offset " + std::to_string(offset));
      this->expect_agreement({16, 32, 8}, precision);
      this->expect_agreement({3, 5, 7}, precision);
    }
  }
}

// Fewer columns than a pack, whole packs alone, and as GPT-2's vocabulary one more.
TYPED_TEST_P(CudaProductParity, GradientsOfPaddedRows_HaveTheSameBits) {
  for (const std::int64_t offset : {0, 1}) {
    this->offset_ = offset;
    for (const LinearShape& shape : {LinearShape{3, 8, 5}, {16, 24, 96}, {64, 40, 241}}) {
      for (const std::int64_t padding : {7, 8}) {
        SCOPED_TRACE(std::to_string(shape.out) + " columns, " + std::to_string(padding) +
                     " behind, offset " + std::to_string(offset));
        ASSERT_TRUE(this->take(Precision::kFp32));
        this->template expect_padded_gradient_has_the_same_bits<float>(shape, padding);
        if (!this->take(Precision::kBf16)) continue;
        this->template expect_padded_gradient_has_the_same_bits<BFloat16>(shape, padding);
      }
    }
  }
}

TYPED_TEST_P(CudaProductParity, Products_AreTheSameBitsEveryTime_AlsoOfOtherOperations) {
  for (const Precision precision : {Precision::kFp32, Precision::kTf32}) {
    if (!this->take(precision)) continue;
    auto twins = this->template layer<float>(TypeParam::kLarge, Distribution::kUniform);
    this->run_twice(twins);
    const std::vector<float> y = twins.y.of_device();
    const std::vector<float> dweight = twins.dweight.of_device();
    const std::vector<float> dbias = twins.dbias.of_device();
    ASSERT_TRUE(this->take(precision));  // made anew
    for (int repeat = 0; repeat < 3; ++repeat) {
      this->run_twice(twins);
      EXPECT_EQ(twins.y.of_device(), y);
      EXPECT_EQ(twins.dweight.of_device(), dweight);
      EXPECT_EQ(twins.dbias.of_device(), dbias);
    }
  }
}

TYPED_TEST_P(CudaProductParity, NoOperation_TakesDeviceMemory) {
  auto twins = this->template layer<float>({64, 128, 32}, Distribution::kUniform);
  const MemoryUse before = this->device().memory();
  const MemoryUse after = this->run_twice(twins);
  EXPECT_EQ(after.used, before.used);
  EXPECT_EQ(after.peak, before.peak);
}

REGISTER_TYPED_TEST_SUITE_P(CudaProductParity, Layers_AgreeWithNaive_InEveryPrecision,
                            UnalignedOperands_AgreeWithNaive, GradientsOfPaddedRows_HaveTheSameBits,
                            Products_AreTheSameBitsEveryTime_AlsoOfOtherOperations,
                            NoOperation_TakesDeviceMemory);

}  // namespace tandem::test
