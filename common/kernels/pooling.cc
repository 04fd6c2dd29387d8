// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/pooling.h"

#include <algorithm>

#include "common/base/half.h"
#include "common/base/vector_clones.h"
#include "common/kernels/host/vector_math.h"

namespace tandem::host {

namespace {

// The part of a window inside the input: rows and columns of the input.
struct Window {
  std::int64_t top;
  std::int64_t bottom;  // row behind the last row
  std::int64_t left;
  std::int64_t right;
};

constexpr std::int64_t first_of(std::int64_t at) {
  return std::max<std::int64_t>(0, at * MaxPoolShape::kStride - MaxPoolShape::kPadding);
}

constexpr std::int64_t end_of(std::int64_t at, std::int64_t size) {
  return std::min(size,
                  at * MaxPoolShape::kStride - MaxPoolShape::kPadding + MaxPoolShape::kKernel);
}

template <class Visit>
TANDEM_INTO_LOOPS void for_each_window(const MaxPoolShape& s, Visit visit) {
  for (std::int64_t row = 0; row < s.out_height(); ++row) {
    for (std::int64_t column = 0; column < s.out_width(); ++column) {
      visit(row * s.out_width() + column, Window{first_of(row), end_of(row, s.height),
                                                 first_of(column), end_of(column, s.width)});
    }
  }
}

// Writes the maxima of one sample's windows.
template <class T>
TANDEM_INTO_LOOPS void take_maxima(const MaxPoolShape& s, const T* x, T* y) {
  for_each_window(
      s, [&](std::int64_t at, const Window& window) __attribute__((always_inline)) {
        T* const most = y + at * s.channels;
        const T* const first = x + (window.top * s.width + window.left) * s.channels;
        std::copy(first, first + s.channels, most);
        for (std::int64_t row = window.top; row < window.bottom; ++row) {
          for (std::int64_t column = window.left; column < window.right; ++column) {
            const T* const values = x + (row * s.width + column) * s.channels;
            TANDEM_INDEPENDENT_ITERATIONS
            for (std::int64_t c = 0; c < s.channels; ++c) {
              const auto value = static_cast<float>(values[c]);
              const bool is_more = value > static_cast<float>(most[c]) || value != value;
              most[c] = is_more ? values[c] : most[c];
            }
          }
        }
      });
}

TANDEM_VECTOR_CLONES
void maxima(const MaxPoolShape s, const float* x, float* y) { take_maxima(s, x, y); }

TANDEM_VECTOR_CLONES
void maxima(const MaxPoolShape s, const BFloat16* x, BFloat16* y) { take_maxima(s, x, y); }

// One sample's operands; `left` holds the part of a window's gradient that has no place yet.
template <class T>
struct MaximaGradient {
  const T* x;
  const T* y;
  const T* dy;
  const T* dabove;  // null: nothing is added
  float* dx;        // zeros before the call
  float* left;      // (channels)
};

template <class T>
TANDEM_INTO_LOOPS void send_gradients(const MaxPoolShape& s, const MaximaGradient<T>& a) {
  for_each_window(
      s, [&](std::int64_t at, const Window& window) __attribute__((always_inline)) {
        const T* const most = a.y + at * s.channels;
        const T* const dy = a.dy + at * s.channels;
        for (std::int64_t c = 0; c < s.channels; ++c) a.left[c] = static_cast<float>(dy[c]);
        if (a.dabove != nullptr) {
          const T* const above = a.dabove + at * s.channels;
          TANDEM_INDEPENDENT_ITERATIONS
          for (std::int64_t c = 0; c < s.channels; ++c) {
            a.left[c] = static_cast<float>(T(a.left[c] + static_cast<float>(above[c])));
          }
        }
        for (std::int64_t row = window.top; row < window.bottom; ++row) {
          for (std::int64_t column = window.left; column < window.right; ++column) {
            const std::int64_t first = (row * s.width + column) * s.channels;
            TANDEM_INDEPENDENT_ITERATIONS
            for (std::int64_t c = 0; c < s.channels; ++c) {
              const bool hit = static_cast<float>(a.x[first + c]) == static_cast<float>(most[c]);
              a.dx[first + c] += hit ? a.left[c] : 0.0F;
              a.left[c] = hit ? 0.0F : a.left[c];
            }
          }
        }
      });
}

TANDEM_VECTOR_CLONES
void maxima_gradient(const MaxPoolShape s, const MaximaGradient<float> a) { send_gradients(s, a); }

TANDEM_VECTOR_CLONES
void maxima_gradient(const MaxPoolShape s, const MaximaGradient<BFloat16> a) {
  send_gradients(s, a);
}

template <class T>
void forward(const MaxPoolForward& op) {
  const MaxPoolShape& s = op.shape;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    maxima(s, op.x.as<const T>().data() + b * (s.input_count() / s.batch),
           op.y.as<T>().data() + b * (s.output_count() / s.batch));
  }
}

// If dx is narrow, a sample is summed in scratch memory and rounded once.
template <class T>
void backward(const MaxPoolBackward& op, float* scratch) {
  constexpr bool kIsWide = std::is_same_v<T, float>;
  const MaxPoolShape& s = op.shape;
  const std::int64_t in = s.input_count() / s.batch;
  const std::int64_t out = s.output_count() / s.batch;
  const T* const dabove = data_or_null(op.dabove.as<const T>());
  for (std::int64_t b = 0; b < s.batch; ++b) {
    T* const dx = op.dx.as<T>().data() + b * in;
    float* sums = scratch + s.channels;
    if constexpr (kIsWide) sums = dx;
    std::fill(sums, sums + in, 0.0F);
    maxima_gradient(s, MaximaGradient<T>{.x = op.x.as<const T>().data() + b * in,
                                         .y = op.y.as<const T>().data() + b * out,
                                         .dy = op.dy.as<const T>().data() + b * out,
                                         .dabove = dabove ? dabove + b * out : nullptr,
                                         .dx = sums,
                                         .left = scratch});
    if constexpr (!kIsWide) std::transform(sums, sums + in, dx, [](float v) { return T(v); });
  }
}

// Writes the means of one sample's channels.
template <class T>
TANDEM_INTO_LOOPS void take_means(const AveragePoolShape& s, const T* x, float* sums, T* y) {
  std::fill(sums, sums + s.channels, 0.0F);
  for (std::int64_t p = 0; p < s.positions; ++p) {
    const T* const values = x + p * s.channels;
    TANDEM_INDEPENDENT_ITERATIONS
    for (std::int64_t c = 0; c < s.channels; ++c) sums[c] += static_cast<float>(values[c]);
  }
  const auto count = static_cast<float>(s.positions);
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t c = 0; c < s.channels; ++c) y[c] = T(sums[c] / count);
}

TANDEM_VECTOR_CLONES
void means(const AveragePoolShape s, const float* x, float* sums, float* y) {
  take_means(s, x, sums, y);
}

TANDEM_VECTOR_CLONES
void means(const AveragePoolShape s, const BFloat16* x, float* sums, BFloat16* y) {
  take_means(s, x, sums, y);
}

template <class T>
void forward(const AveragePoolForward& op, float* sums) {
  const AveragePoolShape& s = op.shape;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    means(s, op.x.as<const T>().data() + b * s.positions * s.channels, sums,
          op.y.as<T>().data() + b * s.channels);
  }
}

// Computes each sample's first position; the other positions are copies of the first.
template <class T>
void backward(const AveragePoolBackward& op) {
  const AveragePoolShape& s = op.shape;
  const auto count = static_cast<float>(s.positions);
  for (std::int64_t b = 0; b < s.batch; ++b) {
    const T* const dy = op.dy.as<const T>().data() + b * s.channels;
    T* const dx = op.dx.as<T>().data() + b * s.positions * s.channels;
    std::transform(dy, dy + s.channels, dx,
                   [count](T v) { return T(static_cast<float>(v) / count); });
    for (std::int64_t p = 1; p < s.positions; ++p) {
      std::copy(dx, dx + s.channels, dx + p * s.channels);
    }
  }
}

}  // namespace

Bytes scratch_size(const MaxPoolBackward& op) {
  const bool is_wide = op.x.dtype() == DType::kFloat32;
  const MaxPoolShape& s = op.shape;
  return bytes_of<float>(s.channels + (is_wide ? 0 : s.input_count() / s.batch));
}

Bytes scratch_size(const AveragePoolForward& op) { return bytes_of<float>(op.shape.channels); }

void run(const MaxPoolForward& op) {
  if (op.x.dtype() == DType::kBFloat16) return forward<BFloat16>(op);
  forward<float>(op);
}

void run(const MaxPoolBackward& op, std::byte* scratch) {
  auto* const sums = reinterpret_cast<float*>(scratch);
  if (op.x.dtype() == DType::kBFloat16) return backward<BFloat16>(op, sums);
  backward<float>(op, sums);
}

void run(const AveragePoolForward& op, std::byte* scratch) {
  auto* const sums = reinterpret_cast<float*>(scratch);
  if (op.x.dtype() == DType::kBFloat16) return forward<BFloat16>(op, sums);
  forward<float>(op, sums);
}

void run(const AveragePoolBackward& op) {
  if (op.dy.dtype() == DType::kBFloat16) return backward<BFloat16>(op);
  backward<float>(op);
}

}  // namespace tandem::host
