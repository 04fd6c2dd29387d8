// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/layer_norm.h"

#include <algorithm>
#include <cmath>

#include "common/base/half.h"
#include "common/base/vector_clones.h"
#include "common/kernels/host/vector_math.h"

namespace tandem::host {

namespace {

// Adds `width` elements, one to each partial sum; `width` is kSums except at the end of a row.
TANDEM_INTO_LOOPS void add_values(int width, const float* values, double (&sums)[kSums]) {
  for (int j = 0; j < width; ++j) sums[j] += static_cast<double>(values[j]);
}

TANDEM_INTO_LOOPS void add_squares(int width, const float* values, float mean,
                                   double (&sums)[kSums]) {
  for (int j = 0; j < width; ++j) {
    const float difference = values[j] - mean;
    sums[j] += static_cast<double>(difference * difference);
  }
}

TANDEM_VECTOR_CLONES
double sum_of(std::int64_t count, const float* values) {
  double sums[kSums] = {};
  std::int64_t begin = 0;
  for (; begin + kSums <= count; begin += kSums) add_values(kSums, values + begin, sums);
  add_values(static_cast<int>(count - begin), values + begin, sums);
  return folded_sum<kSums>(sums);
}

TANDEM_VECTOR_CLONES
double sum_of_squares(std::int64_t count, const float* values, float mean) {
  double sums[kSums] = {};
  std::int64_t begin = 0;
  for (; begin + kSums <= count; begin += kSums) add_squares(kSums, values + begin, mean, sums);
  add_squares(static_cast<int>(count - begin), values + begin, mean, sums);
  return folded_sum<kSums>(sums);
}

// The operands that the rows of one operation share, and a row's statistics.
struct Affine {
  std::int64_t width;
  const float* gain;
  const float* bias;
  float mean;
  float rstd;
};

template <class T>
TANDEM_INTO_LOOPS void normalise_row(const Affine a, const float* values, T* y) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < a.width; ++i) {
    y[i] = T((values[i] - a.mean) * a.rstd * a.gain[i] + a.bias[i]);
  }
}

TANDEM_VECTOR_CLONES
void normalise(const Affine a, const float* values, float* y) { normalise_row(a, values, y); }

TANDEM_VECTOR_CLONES
void normalise(const Affine a, const float* values, BFloat16* y) { normalise_row(a, values, y); }

template <class T>
void forward(const LayerNormForward& op) {
  const std::int64_t width = op.shape.width;
  const auto elements = static_cast<double>(width);
  for (std::int64_t row = 0; row < op.shape.rows; ++row) {
    const std::int64_t first = row * width;
    const float* values = op.x.data() + first;
    if (!op.branch.empty()) {
      add(width, values, op.branch.as<const T>().data() + first, op.sum.data() + first);
      values = op.sum.data() + first;
    }
    const auto mean = static_cast<float>(sum_of(width, values) / elements);
    const double variance = sum_of_squares(width, values, mean) / elements;
    const auto rstd = static_cast<float>(1 / std::sqrt(variance + static_cast<double>(op.epsilon)));
    normalise({width, op.gain.data(), op.bias.data(), mean, rstd}, values,
              op.y.as<T>().data() + first);
    op.mean.data()[row] = mean;
    op.rstd.data()[row] = rstd;
  }
}

// The gradients of gain and bias as sums over rows.
struct ParameterSums {
  double* gain;  // (width)
  double* bias;  // (width)
};

template <class T>
struct BackwardRow {
  std::int64_t width;
  const T* dy;
  const float* sum;
  const float* gain;
  float mean;
  float rstd;
};

// A row's partial sums of g and of g n: naive_transformer.h has the formula.
struct PartialSums {
  double plain[kSums] = {};
  double sloped[kSums] = {};
};
struct RowSums {
  double plain;
  double sloped;
};

// Adds `width` elements from `begin` on to the row's sums and to the sums over rows.
template <class T>
TANDEM_INTO_LOOPS void add_gradients(const BackwardRow<T>& r, std::int64_t begin, int width,
                                     const ParameterSums& parameters, PartialSums& sums) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (int j = 0; j < width; ++j) {
    const std::int64_t i = begin + j;
    const auto dy = static_cast<float>(r.dy[i]);
    const float normalised = (r.sum[i] - r.mean) * r.rstd;
    const float g = dy * r.gain[i];
    sums.plain[j] += static_cast<double>(g);
    sums.sloped[j] += static_cast<double>(g * normalised);
    parameters.gain[i] += static_cast<double>(dy * normalised);
    parameters.bias[i] += static_cast<double>(dy);
  }
}

template <class T>
TANDEM_INTO_LOOPS RowSums sum_row(const BackwardRow<T> r, const ParameterSums parameters) {
  PartialSums sums;
  std::int64_t begin = 0;
  for (; begin + kSums <= r.width; begin += kSums) add_gradients(r, begin, kSums, parameters, sums);
  add_gradients(r, begin, static_cast<int>(r.width - begin), parameters, sums);
  return {folded_sum<kSums>(sums.plain), folded_sum<kSums>(sums.sloped)};
}

TANDEM_VECTOR_CLONES
RowSums sums_of(const BackwardRow<float> r, const ParameterSums parameters) {
  return sum_row(r, parameters);
}

TANDEM_VECTOR_CLONES
RowSums sums_of(const BackwardRow<BFloat16> r, const ParameterSums parameters) {
  return sum_row(r, parameters);
}

template <class T>
TANDEM_INTO_LOOPS void differentiate_row(const BackwardRow<T> r, float plain, float sloped,
                                         const float* dabove, float* dsum) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < r.width; ++i) {
    const float normalised = (r.sum[i] - r.mean) * r.rstd;
    const float g = static_cast<float>(r.dy[i]) * r.gain[i];
    dsum[i] = r.rstd * (g - plain - normalised * sloped) + dabove[i];
  }
}

TANDEM_VECTOR_CLONES
void differentiate(const BackwardRow<float> r, float plain, float sloped, const float* dabove,
                   float* dsum) {
  differentiate_row(r, plain, sloped, dabove, dsum);
}

TANDEM_VECTOR_CLONES
void differentiate(const BackwardRow<BFloat16> r, float plain, float sloped, const float* dabove,
                   float* dsum) {
  differentiate_row(r, plain, sloped, dabove, dsum);
}

TANDEM_VECTOR_CLONES
void round_all(std::int64_t count, const double* from, float* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

// The gradient from above of one row. Without dabove a row of zeros in dsum stands in, as dsum is
// written in place.
const float* row_above(const LayerNormBackward& op, std::int64_t first) {
  if (!op.dabove.empty()) return op.dabove.data() + first;
  std::fill_n(op.dsum.data() + first, op.shape.width, 0.0F);
  return op.dsum.data() + first;
}

template <class T>
void backward(const LayerNormBackward& op, const ParameterSums parameters) {
  const std::int64_t width = op.shape.width;
  const auto elements = static_cast<double>(width);
  for (std::int64_t row = 0; row < op.shape.rows; ++row) {
    const std::int64_t first = row * width;
    const BackwardRow<T> r{width,
                           op.dy.as<const T>().data() + first,
                           op.sum.data() + first,
                           op.gain.data(),
                           op.mean.data()[row],
                           op.rstd.data()[row]};
    const RowSums sums = sums_of(r, parameters);
    float* const dsum = op.dsum.data() + first;
    differentiate(r, static_cast<float>(sums.plain / elements),
                  static_cast<float>(sums.sloped / elements), row_above(op, first), dsum);
    if (!op.dbranch.empty()) copy_row(width, dsum, op.dbranch.as<T>().data() + first);
  }
}

}  // namespace

void run(const LayerNormForward& op) {
  return op.y.dtype() == DType::kBFloat16 ? forward<BFloat16>(op) : forward<float>(op);
}

Bytes scratch_size(const LayerNormBackward& op) {
  return Bytes{2 * op.shape.width * static_cast<std::int64_t>(sizeof(double))};
}

void run(const LayerNormBackward& op, std::byte* scratch) {
  const std::int64_t width = op.shape.width;
  auto* const sums = reinterpret_cast<double*>(scratch);
  std::fill_n(sums, 2 * width, 0.0);
  const ParameterSums parameters{sums, sums + width};
  op.dy.dtype() == DType::kBFloat16 ? backward<BFloat16>(op, parameters)
                                    : backward<float>(op, parameters);
  round_all(width, parameters.gain, op.dgain.data());
  round_all(width, parameters.bias, op.dbias.data());
}

}  // namespace tandem::host
