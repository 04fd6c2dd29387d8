// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "common/model/model.h"
#include "common/model/owned_tensors.h"
#include "common/model/replay_plan.h"

namespace tandem {

// A tensor as a matrix (rows, columns) that patterns multiply from both sides.
struct FoldedTensor {
  std::int64_t columns = 1;
  std::int64_t rows = 0;
  std::int64_t first_row = 0;  // among those of all tensors
};

// The largest number of columns that divides `count` and is at most this.
inline constexpr std::int64_t kMostColumns = 1024;
[[nodiscard]] FoldedTensor fold(std::int64_t count, std::int64_t first_row);

// Elements that a replay's memory is made for.
struct ReplaySizes {
  std::int64_t batch = 0;
  std::int64_t input = 0;    // of a sample
  std::int64_t rows = 0;     // of a sample's output
  std::int64_t columns = 0;  // of its output
  std::int64_t folded_rows = 0;
  bool shares_output_gradient = false;           // with the output
  std::vector<std::int64_t> activation_bytes{};  // of a sample, by layer
};

// A replay's memory on one device for one batch: patterns, which the first forward writes; what the
// parameters and the input come to; the layers' activations; and what products multiply.
class ReplayActivations final : public Activations {
 public:
  ReplayActivations(Device& device, const ReplaySizes& sizes, std::vector<ReplayLayer> plan,
                    Precision precision);

  [[nodiscard]] Span<float> output() override { return output_; }
  [[nodiscard]] Span<float> output_gradient() override { return output_gradient_; }

  // Enqueues the patterns, at the first call alone.
  void make_patterns(Executor on, std::int64_t input_classes, std::int64_t parameters);

  // Enqueues a pass's products.
  void multiply(Executor on, const ReplayPass& pass) const;

  [[nodiscard]] const ReplaySizes& sizes() const { return sizes_; }
  [[nodiscard]] const std::vector<ReplayLayer>& plan() const { return plan_; }
  // Of a layer, in whole floats; empty where it keeps none.
  [[nodiscard]] Span<float> activations(std::size_t layer) const { return activations_[layer]; }

  struct Tensors {
    Span<float> input_pattern;   // (input)
    Span<float> row_pattern;     // (rows)
    Span<float> column_pattern;  // (columns)
    Span<float> fold_pattern;    // (kMostColumns)
    Span<float> sum_pattern;     // (folded rows)
    Span<float> sample;          // (batch): pattern . input
    Span<float> scaled;          // (batch): that times z
    Span<float> rows;            // (batch, rows): times the row pattern
    Span<float> folded;          // (folded rows): each row of a tensor times the fold pattern
    Span<float> z;               // one element
    Span<float> dfolded;         // as folded
    Span<float> dz;              // one element
  };
  [[nodiscard]] const Tensors& tensors() const { return tensors_; }

 private:
  void allocate_products(DType type);
  void fill_random(Executor on, AnySpan values, std::uint64_t seed) const;

  const ReplaySizes sizes_;
  const std::vector<ReplayLayer> plan_;
  OwnedTensors memory_;
  Tensors tensors_;
  Span<float> output_;
  Span<float> output_gradient_;
  std::vector<Span<float>> activations_;  // by layer
  AnySpan x_;
  AnySpan weight_;
  AnySpan y_;
  Span<float> wide_;  // to cast from; empty in fp32
  bool has_patterns_ = false;
};

}  // namespace tandem
