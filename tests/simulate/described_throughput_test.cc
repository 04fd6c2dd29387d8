// SPDX-License-Identifier: Apache-2.0
//
// The throughput of one GPU from its description alone, on published steps of BERT-large. The share
// of products was fitted to the four rows of A100; the others judge it. Every error is printed, for
// research/published/project_errors.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>

#include "simulate/catalogue/catalogue.h"
#include "simulate/cost/operation_costs.h"

namespace tandem {
namespace {

struct BertRow {
  const char* node;
  const char* precision;  // "fp32", "tf32" or "amp": bf16 where the GPU has it, else fp16
  int batch;
  int positions;
  double published;  // sequences per second
  const char* source;
};

// Accumulates the gradients of 64 steps or more, so that an update is no part of its step.
constexpr const char* kPretraining = "NVIDIA DeepLearningExamples, BERT pre-training";
constexpr const char* kSquad = "NVIDIA DeepLearningExamples, BERT SQuAD";
constexpr const char* kLambda = "lambdal/deeplearning-benchmark, BERT-large SQuAD";
constexpr double kBar = 0.25;

// A step of BERT-large as PyTorch runs it: attention as batched products with its scores in memory,
// and one kernel for each elementwise function.
class BertStep {
 public:
  explicit BertStep(const BertRow& row)
      : gpu_(catalogued_hardware(row.node, "row").gpu),
        batch_(row.batch),
        positions_(row.positions),
        has_update_(std::string_view(row.source) != kPretraining) {
    const bool is_half = std::string(row.precision) == "amp";
    if (is_half) peak_ = (gpu_.bf16 ? *gpu_.bf16 : gpu_.fp16.value()).value;
    if (std::string(row.precision) == "tf32") peak_ = gpu_.tf32.value().value;
    if (std::string(row.precision) == "fp32") peak_ = gpu_.fp32.value;
    element_ = is_half ? 2 : 4;
  }

  [[nodiscard]] double seconds() {
    constexpr int kLayers = 24;
    for (int layer = 0; layer < kLayers; ++layer) add_layer();
    if (has_update_) update();
    return static_cast<double>(time_.count()) * 1e-9;
  }

 private:
  static constexpr std::int64_t kWidth = 1024;
  static constexpr std::int64_t kHeads = 16;
  static constexpr std::int64_t kParameters = 335'000'000;

  void update() {
    move(kParameters * 28);                    // Adam
    if (element_ == 2) move(kParameters * 6);  // copies of the parameters
  }

  void add_layer() {
    const std::int64_t rows = batch_ * positions_;
    linear(rows, kWidth, 3 * kWidth);
    linear(rows, kWidth, kWidth);
    linear(rows, kWidth, 4 * kWidth);
    linear(rows, 4 * kWidth, kWidth);
    for (int forward_and_gradients = 0; forward_and_gradients < 3; ++forward_and_gradients) {
      product({positions_, positions_, kWidth / kHeads, batch_ * kHeads});
      product({positions_, kWidth / kHeads, positions_, batch_ * kHeads});
    }
    for (int norm = 0; norm < 2; ++norm) {
      move(rows * kWidth * 2 * element_, OperationKind::kNormalisation);
      move(rows * kWidth * 3 * element_, OperationKind::kNormalisation);
    }
    // Mask, softmax and dropout of the scores, and their gradients.
    const std::int64_t scores = batch_ * kHeads * positions_ * positions_ * element_;
    move(6 * scores);
    move(8 * scores);
    // GELU on four widths, two residual sums and two dropouts, and their gradients.
    move(rows * kWidth * element_ * (4 * 2 + 2 * 5));
    move(rows * kWidth * element_ * (4 * 3 + 2 * 5));
  }

  void linear(std::int64_t rows, std::int64_t in, std::int64_t out) {
    product({rows, out, in, 1});
    product({rows, in, out, 1});
    product({out, in, rows, 1});
  }

  void product(const ProductShape& shape) {
    const std::int64_t elements =
        shape.rows * shape.depth + shape.depth * shape.columns + shape.rows * shape.columns;
    const auto flops = static_cast<double>(2 * shape.count * shape.rows * shape.columns) *
                       static_cast<double>(shape.depth);
    time_ += operation_time(gpu_, peak_,
                            {.flops = flops,
                             .moved = Bytes{element_ * shape.count * elements},
                             .kind = OperationKind::kProduct,
                             .product = shape});
  }

  void move(std::int64_t bytes, OperationKind kind = OperationKind::kOther) {
    time_ += operation_time(gpu_, peak_, {.moved = Bytes{bytes}, .kind = kind});
  }

  const GpuDescription gpu_;
  const std::int64_t batch_;
  const std::int64_t positions_;
  const bool has_update_;
  double peak_ = 0;
  std::int64_t element_ = 4;
  Nanoseconds time_{};
};

class DescribedThroughput : public ::testing::TestWithParam<BertRow> {};

TEST_P(DescribedThroughput, OfBertLarge_IsNearThePublished) {
  const BertRow& row = GetParam();
  const double told = row.batch / BertStep(row).seconds();
  const double error = told / row.published - 1;
  const bool is_fitted = std::string_view(row.node) == "dgx-a100";
  std::printf("%s %s, batch %d of %d positions: %.1f, published %.1f, %+.2f %% (%s%s)\n", row.node,
              row.precision, row.batch, row.positions, told, row.published, 100 * error, row.source,
              is_fitted ? ", fitted" : "");
  EXPECT_LT(std::abs(error), kBar);
}

INSTANTIATE_TEST_SUITE_P(Rows, DescribedThroughput,
                         testing::Values(BertRow{"dgx-a100", "tf32", 32, 384, 61.5, kSquad},
                                         BertRow{"dgx-a100", "amp", 32, 384, 110.5, kSquad},
                                         BertRow{"dgx-a100", "tf32", 64, 128, 317, kPretraining},
                                         BertRow{"dgx-a100", "amp", 64, 128, 580, kPretraining},
                                         BertRow{"dgx-1", "fp32", 8, 384, 12, kSquad},
                                         BertRow{"dgx-1", "amp", 16, 384, 52, kSquad},
                                         BertRow{"dgx-h100", "tf32", 64, 384, 141, kLambda},
                                         BertRow{"h100-pcie-box", "tf32", 64, 384, 97, kLambda},
                                         BertRow{"rtx-3090-box", "fp32", 16, 384, 24, kLambda}));

}  // namespace
}  // namespace tandem
