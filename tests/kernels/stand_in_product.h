// SPDX-License-Identifier: Apache-2.0
//
// The products of the stand-in for cuBLASLt, and what its opaque structures hold of them.
#pragma once

#include <cublasLt.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/base/half.h"

namespace tandem::test::stand_in {

struct Operation {
  cublasComputeType_t compute;
  std::int32_t transposed[2];  // a, b
  std::uint32_t epilogue;
  std::int32_t vector_type;
  void* vector;
  void* before;  // of the activation
  std::int64_t before_stride;
};
struct Layout {
  cudaDataType type;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t stride;  // between columns
  std::int32_t count;   // of a batch
  std::int64_t apart;   // its matrices
};
inline bool writes_before(std::uint32_t epilogue) {
  return epilogue == CUBLASLT_EPILOGUE_GELU_AUX || epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
}
inline bool has_before(std::uint32_t epilogue) {
  return writes_before(epilogue) || epilogue == CUBLASLT_EPILOGUE_DGELU;
}

inline const double kGeluRoot = std::sqrt(2 / std::acos(-1.0));

inline double gelu_tanh(double y) { return std::tanh(kGeluRoot * (y + 0.044715 * y * y * y)); }

inline double gelu(double y) { return 0.5 * y * (1 + gelu_tanh(y)); }

inline double gelu_slope(double y) {
  const double t = gelu_tanh(y);
  return 0.5 * (1 + t) + 0.5 * y * (1 - t * t) * kGeluRoot * (1 + 3 * 0.044715 * y * y);
}

inline double value_at(const void* data, cudaDataType type, std::int64_t i) {
  if (type == CUDA_R_32F) return static_cast<const float*>(data)[i];
  return static_cast<double>(static_cast<float>(static_cast<const BFloat16*>(data)[i]));
}

inline void set_value(void* data, cudaDataType type, std::int64_t i, double value) {
  const auto rounded = static_cast<float>(value);
  if (type == CUDA_R_32F) {
    static_cast<float*>(data)[i] = rounded;
  } else {
    static_cast<BFloat16*>(data)[i] = BFloat16(rounded);
  }
}

struct Factor {
  const void* data;
  Layout layout;
  bool transposed;

  [[nodiscard]] std::int64_t rows() const { return transposed ? layout.columns : layout.rows; }
  [[nodiscard]] std::int64_t columns() const { return transposed ? layout.rows : layout.columns; }
  [[nodiscard]] double at(std::int64_t matrix, std::int64_t row, std::int64_t column) const {
    const std::int64_t i = transposed ? column + row * layout.stride : row + column * layout.stride;
    return value_at(data, layout.type, matrix * layout.apart + i);
  }
};

struct Multiplication {
  Operation operation;
  Factor a;
  Factor b;
  void* d;
  Layout result;

  [[nodiscard]] bool fits() const {
    const auto is_sound = [&](const Layout& layout) {
      return layout.stride >= layout.rows && layout.count == result.count;
    };
    return a.rows() == result.rows && b.columns() == result.columns && a.columns() == b.rows() &&
           is_sound(a.layout) && is_sound(b.layout) && is_sound(result);
  }

  // All rows of a column at once, which compilers vectorise: a calibration multiplies large
  // matrices.
  void run() const {
    std::vector<double> sums(static_cast<std::size_t>(result.rows));
    for (std::int32_t matrix = 0; matrix < result.count; ++matrix) {
      const std::vector<float> factors = columns_of_a(matrix);
      for (std::int64_t column = 0; column < result.columns; ++column) {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (std::int64_t k = 0; k < a.columns(); ++k) {
          const double factor = b.at(matrix, k, column);
          const float* const of_a = factors.data() + k * result.rows;
          for (std::size_t row = 0; row < sums.size(); ++row) sums[row] += of_a[row] * factor;
        }
        for (std::int64_t row = 0; row < result.rows; ++row) {
          set_element(matrix, row, column, sums[static_cast<std::size_t>(row)]);
        }
      }
    }
    if (operation.epilogue == CUBLASLT_EPILOGUE_BGRADB) sum_columns_of_b();
  }

  [[nodiscard]] std::vector<float> columns_of_a(std::int64_t matrix) const {
    std::vector<float> values;
    values.reserve(static_cast<std::size_t>(a.rows() * a.columns()));
    for (std::int64_t k = 0; k < a.columns(); ++k) {
      for (std::int64_t row = 0; row < a.rows(); ++row) {
        values.push_back(static_cast<float>(a.at(matrix, row, k)));
      }
    }
    return values;
  }

  void set_element(std::int64_t matrix, std::int64_t row, std::int64_t column, double sum) const {
    if ((operation.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0) {
      sum += value_at(operation.vector, result.type, row);
    }
    const std::int64_t at_before = row + column * operation.before_stride;
    if (operation.epilogue == CUBLASLT_EPILOGUE_DGELU) {
      sum *= gelu_slope(value_at(operation.before, result.type, at_before));
    } else if (writes_before(operation.epilogue)) {
      set_value(operation.before, result.type, at_before, sum);
      sum = gelu(sum);
    } else if ((operation.epilogue & CUBLASLT_EPILOGUE_RELU) != 0) {
      sum = std::max(sum, 0.0);
    }
    set_value(d, result.type, matrix * result.apart + row + column * result.stride, sum);
  }

  void sum_columns_of_b() const {
    for (std::int64_t column = 0; column < b.columns(); ++column) {
      double sum = 0;
      for (std::int64_t k = 0; k < b.rows(); ++k) sum += b.at(0, k, column);
      set_value(operation.vector, result.type, column, sum);
    }
  }
};

}  // namespace tandem::test::stand_in
