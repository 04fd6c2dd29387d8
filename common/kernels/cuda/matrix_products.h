// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>

#include <array>
#include <boost/noncopyable.hpp>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "common/base/dtype.h"
#include "common/kernels/operations.h"
#include "common/runtime/cuda/gpu.h"
#include "common/runtime/span.h"

namespace tandem::cuda {

// The products of the linear operations in cuBLASLt's terms, as pure functions. cuBLASLt stores
// matrices column by column, so that a row-major (rows, columns) matrix is to it the transpose,
// with `columns` rows. Each plan therefore computes the transpose of the result:
//   y^T = weight . x^T         the weight read as transposed, x as it lies
//   dx^T = weight^T . dy^T     both as they lie
//   dweight^T = x^T . dy       dy read as transposed

enum class Product {
  kForward,
  kBackwardInput,
  kBackwardWeight,
  kScores,  // attention.h has these
  kMix,
  kMixBackward,
};

// A matrix as it lies in memory, column by column; read as its transpose where so marked.
struct StoredMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  DType type = DType::kFloat32;
  bool transposed = false;
  std::int64_t stride = 0;  // elements between columns; 0: they follow each other
  std::int64_t apart = 0;   // elements between the matrices of a batch

  auto operator<=>(const StoredMatrix&) const = default;
};

[[nodiscard]] StoredMatrix read_as_transposed(StoredMatrix matrix);

// d = epilogue(a . b), for each matrix of a batch. The epilogue's vector is a bias, or receives a
// bias gradient.
struct ProductPlan {
  Product product = Product::kForward;
  LinearShape shape;
  StoredMatrix a;
  StoredMatrix b;
  StoredMatrix d;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  std::int32_t count = 1;  // of the batch

  auto operator<=>(const ProductPlan&) const = default;
};

[[nodiscard]] ProductPlan plan_of(const LinearForward& op);
[[nodiscard]] ProductPlan plan_of(const LinearBackwardInput& op);
[[nodiscard]] ProductPlan plan_of(const LinearBackwardWeight& op);

// Whether the epilogue also writes, or reads for a gradient, what the activation is given, as large
// as the result.
[[nodiscard]] bool has_before(cublasLtEpilogue_t epilogue);

// Whether the library may be asked for the epilogue, `before` being the alignment of what an
// activation is given: it takes that only where columns are a multiple of 8 elements long
// (cublasLt.h, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD), 16 bytes at a time, and its heuristics are
// never given its place.
[[nodiscard]] bool has_epilogue(const ProductPlan& plan, std::uint32_t before);

// How factors are multiplied and sums taken. fp32 is fp32 unless tf32 was asked for.
[[nodiscard]] cublasComputeType_t compute_type(const ProductPlan& plan, Precision precision);

// A logic error for fp16, which no product here is made of.
[[nodiscard]] cudaDataType_t cuda_type(DType type);

// A usage error where a GPU of that name and compute capability (80 is 8.0) has not that precision
// in its arithmetic: tf32 and bf16 came with 8.0. Without this check tf32 would be fp32 there, and
// be named wrongly.
void check_precision(Precision precision, int capability, std::string_view gpu);

// NVIDIA's advice for cuBLAS on such a GPU (its documentation of cublasSetWorkspace):
// algorithms that split the inner dimension need it.
[[nodiscard]] Bytes workspace_size(int capability);

// "linear_forward of 64 x 100 -> 10 in bf16".
[[nodiscard]] std::string to_string(const ProductPlan& plan);

// The largest power of two, up to 256, that divides an address: what cuBLASLt's choice goes by.
[[nodiscard]] std::uint32_t alignment_of(const void* address);

// The same of every matrix of a batch, the first of which lies at `address`.
[[nodiscard]] std::uint32_t alignment_of(const void* address, const StoredMatrix& matrix);

// The addresses of a plan's matrices, of a batch the first ones. `vector`, and `before`, where what
// the activation is given goes or lies: the epilogue's, null where it has none.
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
class MatrixProducts : boost::noncopyable {
 public:
  // `workspace` is device memory that outlives the products.
  MatrixProducts(Gpu& gpu, Precision precision, ByteSpan workspace);
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
