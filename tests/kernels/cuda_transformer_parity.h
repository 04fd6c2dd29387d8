// SPDX-License-Identifier: Apache-2.0
//
// What a transformer needs beside linear layers, held to the shares of cuda_tolerances.h.
#pragma once

#include "tests/kernels/cuda_product_parity.h"
#include "tests/kernels/transformer_twins.h"

namespace tandem::test {

template <class Backend>
class CudaTransformerParity : public CudaParity<Backend> {
 protected:
  // Tokens from all over the table, some of which come often.
  EmbeddingTwins embedding(const EmbeddingShape& s) {
    std::vector<float> ids;
    for (std::int64_t r = 0; r < s.rows; ++r) {
      ids.push_back(static_cast<float>((r % 3 == 0 ? 0 : r * r + r / 7) % s.vocabulary));
    }
    const Distribution data = Distribution::kSmallIntegers;  // sums are exact in any order
    return {s, this->twin(std::move(ids)), this->random(s.vocabulary * s.width, data),
            this->random(s.positions * s.width, data), this->random(s.rows * s.width, data)};
  }

  template <class T>
  NormTwins<T> norm_layer(const NormShape& s) {
    const std::int64_t all = s.rows * s.width;
    return {s,
            this->random(all),
            this->template random<T>(all),
            this->random(s.width),
            this->random(s.width),
            this->zeros(all),
            this->template zeros<T>(all),
            this->zeros(s.rows),
            this->zeros(s.rows),
            this->template random<T>(all),
            this->random(all)};
  }

  template <class T>
  AttentionTwins<T> attention(const AttentionShape& s) {
    const std::int64_t all = s.rows() * s.width();
    return {s,
            this->template random<T>(3 * all),
            this->template zeros<T>(all),
            this->zeros(s.rows() * s.heads),
            this->template random<T>(all),
            this->template zeros<T>(3 * all)};
  }

  template <class T>
  void expect_gelu_backward_agrees(const LinearShape& s) {
    std::vector<T> values;
    for (std::int64_t i = 0; i < s.batch * s.in; ++i) {
      values.push_back(T(static_cast<float>((i * 37 + 400) % 1001 - 500) / 50));
    }
    auto before = this->twin(std::move(values));
    auto dy = this->template random<T>(s.batch);
    auto ones = this->twin(std::vector<T>(static_cast<std::size_t>(s.in), T(1.0F)));
    auto dx = this->template zeros<T>(s.batch * s.in);
    this->run_on_both([&](Side side) {
      return LinearBackwardInput{.shape = s,
                                 .dy = dy.on(side),
                                 .weight = ones.on(side),
                                 .dx = dx.on(side),
                                 .before = before.on(side)};
    });
    const double of_slope = s.in == 1 ? share::kGeluBackward : share::kGeluBackwardOfLibrary;
    const double rounding = std::is_same_v<T, float> ? 0 : share::kBf16Rounding;
    const double given = norm(dy.of_host()) * std::sqrt(static_cast<double>(s.in));
    EXPECT_LE(distance(dx.of_device(), dx.of_host()),
              of_slope * given + rounding * norm(dx.of_host()))
        << s.in << " columns of " << sizeof(T) << " bytes";
  }

  template <class T>
  void expect_norms_agree(const NormShape& s, bool with_branch) {
    const double of_y = std::is_same_v<T, float> ? share::kNorm : share::kBf16Rounding;
    auto twins = norm_layer<T>(s);
    this->run_on_both([&](Side side) { return twins.forward(side, with_branch); });
    expect_same(twins.sum, "sum");
    expect_share(twins.y, of_y, "y");
    expect_share(twins.mean, share::kCancelling, "mean");
    expect_share(twins.rstd, share::kNorm, "rstd");
    auto dgain = this->zeros(s.width);
    auto dbias = this->zeros(s.width);
    this->run_on_both([&](Side side) { return twins.backward(side, dgain, dbias, with_branch); });
    expect_share(twins.dsum, share::kNorm, "dsum");
    if (with_branch) expect_share(twins.branch, of_y, "dbranch");
    expect_share(dgain, share::kNorm, "dgain");
    expect_share(dbias, share::kNorm, "dbias");
  }

  template <class T>
  void expect_attention_agrees(const AttentionShape& s, const share::Attention& shares) {
    auto twins = attention<T>(s);
    this->run_on_both([&](Side side) { return twins.forward(side); });
    expect_share(twins.y, shares.result, "y");
    // One position's is its score, which may be near 0.
    EXPECT_LE(distance(twins.log_sums.of_device(), twins.log_sums.of_host()),
              shares.log_sums * std::sqrt(static_cast<double>(twins.log_sums.count())))
        << "log_sums";
    this->run_on_both([&](Side side) { return twins.backward(side); });
    expect_share(twins.dqkv, shares.gradient, "dqkv");
  }

  template <class T>
  void expect_cross_entropies_agree(std::int64_t rows, std::int64_t classes, std::int64_t padding) {
    const double of_gradient =
        std::is_same_v<T, float> ? share::kCrossEntropy : share::kBf16Rounding;
    auto prediction = this->template random<T>(rows * (classes + padding));
    std::vector<float> right;
    for (std::int64_t r = 0; r < rows; ++r) {
      right.push_back(static_cast<float>((7 * r + classes / 2) % classes));
    }
    auto target = this->twin(std::move(right));
    auto gradient = this->template random<T>(prediction.count());
    auto loss = this->zeros(1);
    auto loss_gradient = this->random(1);
    for (const bool with_gradient : {true, false}) {
      this->run_on_both([&](Side s) {
        return CrossEntropyLoss{.classes = classes,
                                .prediction = prediction.on(s),
                                .target = target.on(s),
                                .gradient = with_gradient ? gradient.on(s) : Span<T>{},
                                .loss = loss.on(s),
                                .padding = padding};
      });
      expect_share(gradient, of_gradient, "gradient");
      EXPECT_NEAR(loss.of_device()[0], loss.of_host()[0],
                  share::kCrossEntropyLoss * (1 + loss.of_host()[0]));
    }
    this->run_on_both([&](Side s) {
      return CrossEntropyLossBackward{.classes = classes,
                                      .prediction = prediction.on(s),
                                      .target = target.on(s),
                                      .loss_gradient = loss_gradient.on(s),
                                      .gradient = prediction.on(s),
                                      .padding = padding};
    });
    expect_share(prediction, of_gradient, "gradient in place of the prediction");
    for (const auto& written : {gradient.of_device(), prediction.of_device()}) {
      for (std::int64_t i = 0; i < prediction.count(); ++i) {
        if (i % (classes + padding) < classes) continue;
        ASSERT_EQ(static_cast<float>(written[static_cast<std::size_t>(i)]), 0) << "padding " << i;
      }
    }
  }

  void expect_agreement(const AttentionShape& s, Precision precision) {
    const share::Attention shares = share::of_attention(precision);
    if (precision == Precision::kBf16) return expect_attention_agrees<BFloat16>(s, shares);
    expect_attention_agrees<float>(s, shares);
  }
};

TYPED_TEST_SUITE_P(CudaTransformerParity);

TYPED_TEST_P(CudaTransformerParity, Embedding_HasTheSameBits) {
  for (const std::int64_t offset : {0, 1}) {
    this->offset_ = offset;
    for (const EmbeddingShape& shape :
         {EmbeddingShape{1, 1, 1, 1}, {6, 3, 5, 4}, {12, 4, 3, 7}, {4200, 1050, 3001, 12}}) {
      SCOPED_TRACE(std::to_string(shape.rows) + " rows, offset " + std::to_string(offset));
      auto twins = this->embedding(shape);
      this->run_on_both([&](Side s) { return twins.backward(s); });
      expect_same(twins.tokens, "dtokens");
      expect_same(twins.places, "dplaces");
      this->run_on_both([&](Side s) { return twins.forward(s); });
      expect_same(twins.rows, "y");
    }
  }
}

TYPED_TEST_P(CudaTransformerParity, LayerNorm_AgreesWithNaive) {
  for (const std::int64_t offset : {0, 1}) {
    this->offset_ = offset;
    for (const NormShape& shape : {NormShape{1, 1},
                                   {1, 4},
                                   {3, 5},
                                   {7, 64},
                                   {33, 257},
                                   {5, 768},
                                   {9, 1600},
                                   {3, 2052},
                                   {1030, 32},
                                   {2100, 31}}) {
      for (const bool with_branch : {true, false}) {
        SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.width) +
                     (with_branch ? " with" : " without") + " branch");
        this->template expect_norms_agree<float>(shape, with_branch);
        this->template expect_norms_agree<BFloat16>(shape, with_branch);
      }
    }
  }
}

TYPED_TEST_P(CudaTransformerParity, Attention_AgreesWithNaive_InEveryPrecision) {
  for (const Precision precision : kAllPrecisions) {
    if (!this->take(precision)) continue;
    for (const std::int64_t offset : {0, 1}) {
      this->offset_ = offset;
      for (const AttentionShape& shape :
           {AttentionShape{.batch = 1, .positions = 1, .heads = 1, .head_width = 1},
            {2, 5, 1, 3},
            {2, 17, 3, 8},
            {1, 64, 2, 16},
            {2, 65, 2, 32}}) {
        SCOPED_TRACE(std::string(name_of(precision)) + ", " + std::to_string(shape.positions) +
                     " positions, offset " + std::to_string(offset));
        this->expect_agreement(shape, precision);
      }
    }
  }
}

TYPED_TEST_P(CudaTransformerParity, Attention_OfLargeScores_StaysFinite) {
  constexpr AttentionShape kShape{.batch = 1, .positions = 9, .heads = 2, .head_width = 4};
  auto twins = this->template attention<float>(kShape);
  this->run_on_both(
      [&](Side s) { return Scale{.in = twins.qkv.on(s), .out = twins.qkv.on(s), .factor = 100}; });
  this->run_on_both([&](Side s) { return twins.forward(s); });
  expect_share(twins.y, 4e-3, "y");  // scores of 10^4 are off by 10^-3
  for (const float value : twins.log_sums.of_device()) EXPECT_TRUE(std::isfinite(value));
}

// Rows that packs fit in, and do not; the last ones as GPT-2's.
TYPED_TEST_P(CudaTransformerParity, CrossEntropy_AgreesWithNaive_AlsoInPlace) {
  constexpr std::int64_t kSizes[][3] = {{1, 1, 0},    {1, 1, 7},      {3, 5, 0},
                                        {3, 5, 3},    {70, 10, 1},    {1100, 7, 0},
                                        {5, 1000, 0}, {2, 50'257, 0}, {2, 50'257, 7}};
  for (const std::int64_t offset : {0, 1}) {
    this->offset_ = offset;
    for (const auto& [rows, classes, padding] : kSizes) {
      SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(classes) + " and " +
                   std::to_string(padding) + ", offset " + std::to_string(offset));
      this->template expect_cross_entropies_agree<float>(rows, classes, padding);
      this->template expect_cross_entropies_agree<BFloat16>(rows, classes, padding);
    }
  }
}

TYPED_TEST_P(CudaTransformerParity, CrossEntropy_OfLargeLogits_StaysFinite) {
  auto prediction = this->twin(std::vector<float>{1e4F, -1e4F, 3e38F, -3e38F});
  auto target = this->twin(std::vector<float>{0, 0});
  auto gradient = this->zeros(4);
  auto loss = this->zeros(1);
  this->run_on_both([&](Side s) {
    return CrossEntropyLoss{.classes = 2,
                            .prediction = prediction.on(s),
                            .target = target.on(s),
                            .gradient = gradient.on(s),
                            .loss = loss.on(s)};
  });
  expect_same(loss, "loss");
  expect_same(gradient, "gradient");
}

// By way of layers that multiply by one: rows of one column, which cuBLASLt's epilogue does not
// take, and of eight.
TYPED_TEST_P(CudaTransformerParity, GradientThroughGelu_AgreesWithNaive) {
  this->for_counts([&](std::int64_t count) {
    if (count == 0) return;  // a layer has rows
    for (const std::int64_t columns : {1, 8}) {
      this->template expect_gelu_backward_agrees<float>({count, columns, 1});
      this->template expect_gelu_backward_agrees<BFloat16>({count, columns, 1});
    }
  });
}

TYPED_TEST_P(CudaTransformerParity, Results_AreTheSameBitsEveryTime) {
  auto heads = this->template attention<float>({2, 65, 2, 32});
  auto layer = this->template norm_layer<float>({300, 257});
  auto dgain = this->zeros(257);
  auto dbias = this->zeros(257);
  const auto run_all = [&] {
    this->run(heads.forward(Side::kDevice));
    this->run(heads.backward(Side::kDevice));
    this->run(layer.forward(Side::kDevice, false));
    this->run(layer.backward(Side::kDevice, dgain, dbias, false));
  };
  run_all();
  const std::vector<float> dqkv = heads.dqkv.of_device();
  const std::vector<float> gain = dgain.of_device();
  const std::vector<float> dsum = layer.dsum.of_device();
  for (int repeat = 0; repeat < 3; ++repeat) {
    run_all();
    EXPECT_EQ(heads.dqkv.of_device(), dqkv);
    EXPECT_EQ(dgain.of_device(), gain);
    EXPECT_EQ(layer.dsum.of_device(), dsum);
  }
}

TYPED_TEST_P(CudaTransformerParity, DeviceMemory_IsTakenInForwardAndOnce) {
  auto heads = this->template attention<float>({2, 65, 2, 32});
  auto smaller = this->template attention<float>({1, 5, 1, 3});
  auto layer = this->template norm_layer<float>({300, 257});
  auto dgain = this->zeros(257);
  auto dbias = this->zeros(257);
  this->run(heads.forward(Side::kDevice));
  this->run(layer.forward(Side::kDevice, true));
  const MemoryUse before = this->device().memory();
  for (int step = 0; step < 2; ++step) {
    this->run(layer.backward(Side::kDevice, dgain, dbias, true));
    this->run(heads.backward(Side::kDevice));
    this->run(smaller.forward(Side::kDevice));
    this->run(heads.forward(Side::kDevice));
    this->run(layer.forward(Side::kDevice, true));
  }
  EXPECT_EQ(this->device().memory().used, before.used);
  EXPECT_EQ(this->device().memory().peak, before.peak);
}

REGISTER_TYPED_TEST_SUITE_P(CudaTransformerParity, Embedding_HasTheSameBits,
                            LayerNorm_AgreesWithNaive, Attention_AgreesWithNaive_InEveryPrecision,
                            Attention_OfLargeScores_StaysFinite,
                            CrossEntropy_AgreesWithNaive_AlsoInPlace,
                            CrossEntropy_OfLargeLogits_StaysFinite,
                            GradientThroughGelu_AgreesWithNaive, Results_AreTheSameBitsEveryTime,
                            DeviceMemory_IsTakenInForwardAndOnce);

}  // namespace tandem::test
