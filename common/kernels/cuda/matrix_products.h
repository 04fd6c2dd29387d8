// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>

#include <array>
#include <compare>
#include <map>

#include "common/kernels/cuda/product_plan.h"
#include "common/runtime/cuda/gpu.h"
#include "common/runtime/span.h"

namespace tandem::cuda {

// Where a plan's matrices lie, of a batch the first ones. `vector`, and `before`, where what the
// activation is given goes: the epilogue's, null where it has none.
struct ProductOperands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* d = nullptr;
  void* vector = nullptr;
  void* before = nullptr;
};

// Whether the library did a plan's epilogue along with the product, or it is left to the caller.
enum class Epilogue { kDone, kLeft };

// cuBLASLt's products on one GPU. What it takes to ask for one is prepared when a plan and the
// alignments of its operands are first met: descriptors, and the algorithm that cuBLASLt's
// heuristics rank first - nothing is timed, so that all ranks choose alike. After that a product is
// one call, without allocation or synchronisation. Where the library has no algorithm with the
// epilogue, the bare product is taken instead. Used from one thread at a time, on streams of one
// GPU whose products follow each other, as they share the workspace.
class MatrixProducts {
 public:
  // `workspace` is device memory that outlives the products.
  MatrixProducts(Gpu& gpu, Precision precision, ByteSpan workspace);
  MatrixProducts(const MatrixProducts&) = delete;
  MatrixProducts& operator=(const MatrixProducts&) = delete;
  ~MatrixProducts();

  // Enqueues d = a . b on `stream`, of this GPU, which is current. An error where cuBLASLt has no
  // algorithm at all; one that loses the GPU is kept for the stream's next wait.
  Epilogue enqueue(cudaStream_t stream, const ProductPlan& plan, const ProductOperands& operands);

 private:
  struct Key {
    ProductPlan plan;
    std::array<std::uint32_t, 5> alignments{};  // of a, b, d, vector, before

    auto operator<=>(const Key&) const = default;
  };

  // All held by value: cuBLASLt's opaque structures own nothing when initialised in place.
  struct Prepared {
    cublasLtMatmulDescOpaque_t operation{};
    cublasLtMatrixLayoutOpaque_t a{};
    cublasLtMatrixLayoutOpaque_t b{};
    cublasLtMatrixLayoutOpaque_t d{};
    cublasLtMatmulAlgo_t algorithm{};
    std::size_t workspace = 0;  // bytes
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  };

  [[nodiscard]] Prepared prepare(const Key& key, const ProductOperands& operands);
  [[nodiscard]] bool choose_algorithm(const Key& key, Prepared& prepared);
  [[nodiscard]] bool take(const cublasLtMatmulHeuristicResult_t& suggestion, Prepared& prepared);
  void describe(const ProductPlan& plan, const ProductOperands& operands, Prepared& prepared) const;
  void point_to(const ProductPlan& plan, const ProductOperands& operands, Prepared& prepared) const;
  void check(cublasStatus_t status, const char* call, const ProductPlan& plan) const;

  Gpu& gpu_;
  const Precision precision_;
  const ByteSpan workspace_;
  cublasLtHandle_t handle_ = nullptr;
  std::map<Key, Prepared> prepared_;
};

}  // namespace tandem::cuda
