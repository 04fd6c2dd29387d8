// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/model/model.h"
#include "common/model/parameter_layout.h"
#include "common/model/workload.h"

namespace tandem {

// The operations that a replay enqueues, as a pure function of the workload and the batch: the same
// on all ranks, whatever their speed.

// The products of a pass, one after the other: rows[i] x width times width x width. A pass has as
// many operations as its layer says, including an operation for each tensor of the layer and one
// that moves the layer's activations where it keeps any.
struct ReplayPass {
  std::int64_t width = 0;
  std::vector<std::int64_t> rows{};
  std::vector<ListedKernel> kernels{};  // in place of products, on devices that take them
};

struct ReplayLayer {
  ReplayPass forward{};
  ReplayPass backward{};
  bool moves_activations = false;
};

// The least and the largest width of a product, and the most rows of one.
inline constexpr std::int64_t kLeastProductWidth = 16;
inline constexpr std::int64_t kLargestProductWidth = 4096;
inline constexpr std::int64_t kMostProductRows = 8192;

// The power of two next below the side of a cube of so many FLOPs, within these bounds: wide enough
// for the speed of the layer's own products, narrow enough that rows resolve FLOPs finely.
[[nodiscard]] std::int64_t product_width(double flops);

// The products of each layer, of as many FLOPs per sample as its passes have.
[[nodiscard]] std::vector<ReplayLayer> plan_replay(const Workload& workload, std::int64_t batch);

// The kernels of each layer as the workload lists them; it has no other operations then.
[[nodiscard]] std::vector<ReplayLayer> plan_listed(const Workload& workload, std::int64_t batch);

// A tensor as a matrix (rows, columns) that patterns multiply from both sides.
struct FoldedTensor {
  std::int64_t columns = 1;
  std::int64_t rows = 0;
  std::int64_t first_row = 0;  // the tensor's first row among the rows of all tensors
};

// The limit of columns: fold() takes the largest number that divides `count` and is at most this
// limit.
inline constexpr std::int64_t kMostFoldColumns = 1024;
[[nodiscard]] FoldedTensor fold(std::int64_t count, std::int64_t first_row);

// The numbers of elements that a replay's memory is made for.
struct ReplaySizes {
  std::int64_t batch = 0;
  std::int64_t input = 0;    // input elements per sample
  std::int64_t rows = 0;     // output rows per sample
  std::int64_t columns = 0;  // output columns per row
  std::int64_t folded_rows = 0;
  DType output_type = DType::kFloat32;           // another one of listed kernels alone
  std::int64_t held_bytes = 0;                   // by listed kernels, of all samples
  bool shares_output_gradient = false;           // the output gradient shares the output's memory
  std::vector<std::int64_t> activation_bytes{};  // bytes per sample, by layer
};

// A replay's memory on one device for one batch: patterns, which the first forward writes; the
// results that parameters and input give; the layers' activations; and the products' operands.
class ReplayActivations final : public Activations {
 public:
  ReplayActivations(Device& device, const ReplaySizes& sizes, std::vector<ReplayLayer> plan,
                    Precision precision, bool is_listed = false);

  [[nodiscard]] AnySpan output() override { return output_; }
  [[nodiscard]] AnySpan output_gradient() override { return output_gradient_; }

  // Enqueues the patterns; only the first call has an effect.
  void make_patterns(Executor on, std::int64_t input_classes, std::int64_t parameters);

  // Whether the plan is of listed kernels alone, which compute nothing.
  [[nodiscard]] bool is_listed() const { return is_listed_; }

  // Enqueues a pass's products or kernels.
  void multiply(Executor on, const ReplayPass& pass) const;

  [[nodiscard]] const ReplaySizes& sizes() const { return sizes_; }
  [[nodiscard]] const std::vector<ReplayLayer>& plan() const { return plan_; }
  // The activations of a layer, in whole floats; empty where the layer keeps none.
  [[nodiscard]] Span<float> activations(std::size_t layer) const { return activations_[layer]; }

  struct Tensors {
    Span<float> input_pattern;   // (input)
    Span<float> row_pattern;     // (rows)
    Span<float> column_pattern;  // (columns)
    Span<float> fold_pattern;    // (kMostFoldColumns)
    Span<float> sum_pattern;     // (folded rows)
    Span<float> sample;          // (batch): pattern . input
    Span<float> scaled;          // (batch): sample times z
    Span<float> rows;            // (batch, rows): scaled times the row pattern
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
  const bool is_listed_;
  OwnedTensors memory_;
  Tensors tensors_;
  AnySpan output_;
  AnySpan output_gradient_;
  std::vector<Span<float>> activations_;  // activations by layer
  AnySpan x_;
  AnySpan weight_;
  AnySpan y_;
  Span<float> wide_;  // fp32 source of casts; empty in fp32
  bool has_patterns_ = false;
};

// A workload as a model: its tensors, buffers, activations and ends are real, its layers are matrix
// products on scratch memory (plan_replay). The function is simple, so that every strategy's
// numbers can be compared with single's: with fixed patterns p of 1, 2 and 3,
//   output[b] = (p . input[b]) * z * p, where z = sum over tensors of p^T tensor p,
// scaled by powers of two. Each parameter is read in forward, and each gradient, the scalar dz
// times a pattern, is written in full by a separate operation, after the products of the
// gradient's layer. Weights start uniform in [-1, 1). A simulated device runs the kernels that the
// file lists in place of all that.
class Replay final : public Model {
 public:
  explicit Replay(Workload workload);

  [[nodiscard]] std::string name() const override { return workload_.name; }
  [[nodiscard]] const ParameterLayout& layout() const override { return layout_; }
  [[nodiscard]] const ParameterLayout& buffers() const override { return buffers_; }
  [[nodiscard]] int module_count() const override { return workload_.modules; }
  [[nodiscard]] std::int64_t input_width() const override { return workload_.input_width; }
  [[nodiscard]] std::int64_t output_width() const override { return workload_.output_width; }
  [[nodiscard]] std::int64_t input_classes() const override { return workload_.input_classes; }
  [[nodiscard]] bool gathers_as_layers() const override { return true; }
  [[nodiscard]] Objective objective() const override { return workload_.objective; }

  // FLOPs as the file says.
  [[nodiscard]] double flops_per_sample() const override;

  void initialise(Executor on, const TensorList& parameters, std::uint64_t seed,
                  Distribution distribution) const override;
  [[nodiscard]] std::unique_ptr<Activations> make_activations(
      Device& device, std::int64_t batch, Precision precision,
      OutputType output_type) const override;
  void forward(Executor on, const ConstTensorList& parameters, ModuleState& state,
               Span<const float> input, Activations& activations) const override;
  void backward(Executor on, const ConstTensorList& parameters, Span<const float> input,
                Activations& activations, const TensorList& gradients,
                GradientSink& sink) const override;

 private:
  // The tensors of a layer, by segment, in the order in which their gradients become ready.
  using Segments = std::vector<std::size_t>;

  void begin_forward(Executor on, Span<const float> input, ReplayActivations& kept) const;
  void end_forward(Executor on, ReplayActivations& kept) const;
  void begin_backward(Executor on, ReplayActivations& kept) const;
  [[nodiscard]] ReplaySizes sizes(std::int64_t batch) const;

  const Workload workload_;
  ParameterLayout layout_;
  ParameterLayout buffers_;
  std::vector<Segments> segments_;    // segments by layer
  std::vector<FoldedTensor> folded_;  // tensors by segment
  std::int64_t folded_rows_ = 0;      // rows of all tensors
};

}  // namespace tandem
