// SPDX-License-Identifier: Apache-2.0
//
// Both directions of batch normalisation take rows in chunks that stay in the cache, and channels
// in blocks whose sums stay in registers: each direction reads memory twice, once for the sums and
// once for the result. A chunk's sums are in fp32, sums over chunks in double.
#include "common/kernels/batch_norm.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/base/half.h"
#include "common/base/vector_clones.h"
#include "common/kernels/host/vector_math.h"

namespace tandem::host {
namespace {

constexpr int kBlock = 64;              // channels
constexpr std::int64_t kRowChunk = 64;  // rows

// A chunk's rows of a block of channels.
struct Part {
  std::int64_t rows;
  std::int64_t stride;  // elements from one row to the next
  int width;            // channels, at most kBlock
};

// Calls body(width), with separate code for a whole block.
template <class Body>
TANDEM_INTO_LOOPS void for_width(int width, Body body) {
  if (width == kBlock) {
    body(kBlock);
  } else {
    body(width);
  }
}

// Calls visit(first row, first channel, part) for each part of a matrix, a chunk of rows at a time.
template <class Visit>
void for_each_part(const BatchNormShape& s, Visit visit) {
  for (std::int64_t row = 0; row < s.rows; row += kRowChunk) {
    const std::int64_t rows = std::min(kRowChunk, s.rows - row);
    for (std::int64_t channel = 0; channel < s.channels; channel += kBlock) {
      const auto width = static_cast<int>(std::min<std::int64_t>(kBlock, s.channels - channel));
      visit(row, channel, Part{rows, s.channels, width});
    }
  }
}

// The sums per channel, and the sums of the squared distances from the chunk's own mean, so that a
// mean far from zero costs no precision.
struct ChunkMoments {
  float sums[kBlock];
  float squares[kBlock];
};

template <class T>
TANDEM_INTO_LOOPS void take_moments(const Part& part, const T* x, ChunkMoments& moments) {
  for_width(
      part.width, [&](int width) __attribute__((always_inline)) {
        float sums[kBlock] = {};
        for (std::int64_t r = 0; r < part.rows; ++r) {
          for (int j = 0; j < width; ++j) sums[j] += static_cast<float>(x[r * part.stride + j]);
        }
        float means[kBlock] = {};
        const auto rows = static_cast<float>(part.rows);
        for (int j = 0; j < width; ++j) means[j] = sums[j] / rows;
        float squares[kBlock] = {};
        for (std::int64_t r = 0; r < part.rows; ++r) {
          for (int j = 0; j < width; ++j) {
            const float distance = static_cast<float>(x[r * part.stride + j]) - means[j];
            squares[j] += distance * distance;
          }
        }
        std::copy(sums, sums + kBlock, moments.sums);
        std::copy(squares, squares + kBlock, moments.squares);
      });
}

TANDEM_VECTOR_CLONES
void moments_of(const Part part, const float* x, ChunkMoments& moments) {
  take_moments(part, x, moments);
}

TANDEM_VECTOR_CLONES
void moments_of(const Part part, const BFloat16* x, ChunkMoments& moments) {
  take_moments(part, x, moments);
}

// Joins a chunk's moments to the moments of the `before` rows ahead of the chunk (Chan, Golub and
// LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979).
void join(const Part& part, const ChunkMoments& chunk, std::int64_t before, double* mean,
          double* squares) {
  const auto rows = static_cast<double>(part.rows);
  const auto ahead = static_cast<double>(before);
  for (int j = 0; j < part.width; ++j) {
    const double distance = static_cast<double>(chunk.sums[j]) / rows - mean[j];
    mean[j] += distance * rows / (ahead + rows);
    squares[j] +=
        static_cast<double>(chunk.squares[j]) + distance * distance * ahead * rows / (ahead + rows);
  }
}

void finish_statistics(const BatchNormForward& op, const double* mean, const double* squares) {
  const auto rows = static_cast<double>(op.shape.rows);
  const auto momentum = static_cast<double>(op.momentum);
  const auto advance = [momentum](float& running, double value) {
    running = static_cast<float>((1 - momentum) * static_cast<double>(running) + momentum * value);
  };
  for (std::int64_t c = 0; c < op.shape.channels; ++c) {
    op.mean.data()[c] = static_cast<float>(mean[c]);
    op.rstd.data()[c] =
        static_cast<float>(1 / std::sqrt(squares[c] / rows + static_cast<double>(op.epsilon)));
    advance(op.running_mean.data()[c], mean[c]);
    advance(op.running_variance.data()[c], squares[c] / (rows - 1));
  }
}

// y = (x - mean) factor + bias, per channel.
struct Affine {
  std::int64_t rows;
  std::int64_t channels;
  const float* mean;
  const float* factor;
  const float* bias;
  bool relu;
};

template <class T, class Residual>
TANDEM_INTO_LOOPS void normalise_rows(const Affine& a, const T* x, T* y, Residual residual) {
  for (std::int64_t r = 0; r < a.rows; ++r) {
    const std::int64_t row = r * a.channels;
    TANDEM_INDEPENDENT_ITERATIONS
    for (std::int64_t c = 0; c < a.channels; ++c) {
      const float value = (static_cast<float>(x[row + c]) - a.mean[c]) * a.factor[c] + a.bias[c] +
                          residual(row + c);
      y[row + c] = T(a.relu && value <= 0 ? 0.0F : value);
    }
  }
}

template <class T>
TANDEM_INTO_LOOPS void normalise_any(const Affine& a, const T* x, const T* residual, T* y) {
  if (residual != nullptr) {
    return normalise_rows(
        a, x, y, [residual](std::int64_t i) __attribute__((always_inline)) {
          return static_cast<float>(residual[i]);
        });
  }
  normalise_rows(
      a, x, y, [](std::int64_t) __attribute__((always_inline)) { return 0.0F; });
}

TANDEM_VECTOR_CLONES
void normalise(const Affine a, const float* x, const float* residual, float* y) {
  normalise_any(a, x, residual, y);
}

TANDEM_VECTOR_CLONES
void normalise(const Affine a, const BFloat16* x, const BFloat16* residual, BFloat16* y) {
  normalise_any(a, x, residual, y);
}

template <class T>
void forward(const BatchNormForward& op, double* scratch) {
  const BatchNormShape& s = op.shape;
  const T* const x = op.x.as<const T>().data();
  double* const mean = scratch;
  double* const squares = scratch + s.channels;
  std::fill(scratch, scratch + 2 * s.channels, 0.0);
  for_each_part(s, [&](std::int64_t row, std::int64_t channel, const Part& part) {
    ChunkMoments moments;
    moments_of(part, x + row * s.channels + channel, moments);
    join(part, moments, row, mean + channel, squares + channel);
  });
  finish_statistics(op, mean, squares);
  auto* const factor = reinterpret_cast<float*>(scratch);  // the sums are no longer needed
  for (std::int64_t c = 0; c < s.channels; ++c) factor[c] = op.rstd.data()[c] * op.gain.data()[c];
  const Affine affine{s.rows, s.channels,     op.mean.data(),
                      factor, op.bias.data(), op.activation == Activation::kRelu};
  normalise(affine, x, data_or_null(op.residual.as<const T>()), op.y.as<T>().data());
}

}  // namespace

Bytes scratch_size(const BatchNormForward& op) { return bytes_of<double>(2 * op.shape.channels); }

void run(const BatchNormForward& op, std::byte* scratch) {
  auto* const sums = reinterpret_cast<double*>(scratch);
  if (op.x.dtype() == DType::kBFloat16) return forward<BFloat16>(op, sums);
  forward<float>(op, sums);
}

namespace {

// The operands that the gradient of y is made of, and the place of the result.
template <class T>
struct Incoming {
  const T* dy;
  const T* dabove;  // null: nothing is added
  const T* y;       // the result of ReLU; null: no ReLU
  T* g;             // null: dy is g
};

struct ChunkSums {
  float plain[kBlock];   // sums of g
  float sloped[kBlock];  // sums of g (x - mean)
};

template <class T, bool kAdds, bool kCuts>
TANDEM_INTO_LOOPS void take_sums(const Part& part, const T* x, const float* mean,
                                 const Incoming<T>& in, ChunkSums& sums) {
  for_width(
      part.width, [&](int width) __attribute__((always_inline)) {
        float plain[kBlock] = {};
        float sloped[kBlock] = {};
        for (std::int64_t r = 0; r < part.rows; ++r) {
          TANDEM_INDEPENDENT_ITERATIONS
          for (int j = 0; j < width; ++j) {
            const std::int64_t at = r * part.stride + j;
            float g = static_cast<float>(in.dy[at]);
            if constexpr (kAdds) g = static_cast<float>(T(g + static_cast<float>(in.dabove[at])));
            if constexpr (kCuts) g = static_cast<float>(in.y[at]) <= 0 ? 0.0F : g;
            if constexpr (kAdds || kCuts) in.g[at] = T(g);
            plain[j] += g;
            sloped[j] += g * (static_cast<float>(x[at]) - mean[j]);
          }
        }
        std::copy(plain, plain + kBlock, sums.plain);
        std::copy(sloped, sloped + kBlock, sums.sloped);
      });
}

template <class T>
TANDEM_INTO_LOOPS void take_any_sums(const Part& part, const T* x, const float* mean,
                                     const Incoming<T>& in, ChunkSums& sums) {
  if (in.dabove != nullptr) {
    if (in.y != nullptr) return take_sums<T, true, true>(part, x, mean, in, sums);
    return take_sums<T, true, false>(part, x, mean, in, sums);
  }
  if (in.y != nullptr) return take_sums<T, false, true>(part, x, mean, in, sums);
  take_sums<T, false, false>(part, x, mean, in, sums);
}

TANDEM_VECTOR_CLONES
void sums_of(const Part part, const float* x, const float* mean, const Incoming<float> in,
             ChunkSums& sums) {
  take_any_sums(part, x, mean, in, sums);
}

TANDEM_VECTOR_CLONES
void sums_of(const Part part, const BFloat16* x, const float* mean, const Incoming<BFloat16> in,
             ChunkSums& sums) {
  take_any_sums(part, x, mean, in, sums);
}

// dx = outer g + inner (x - mean) + constant, per channel.
struct Linear {
  std::int64_t rows;
  std::int64_t channels;
  const float* mean;
  const float* outer;
  const float* inner;
  const float* constant;
};

template <class T>
TANDEM_INTO_LOOPS void combine_rows(const Linear& l, const T* g, const T* x, T* dx) {
  for (std::int64_t r = 0; r < l.rows; ++r) {
    const std::int64_t row = r * l.channels;
    TANDEM_INDEPENDENT_ITERATIONS
    for (std::int64_t c = 0; c < l.channels; ++c) {
      const float distance = static_cast<float>(x[row + c]) - l.mean[c];
      dx[row + c] =
          T(l.outer[c] * static_cast<float>(g[row + c]) + l.inner[c] * distance + l.constant[c]);
    }
  }
}

TANDEM_VECTOR_CLONES
void combine(const Linear l, const float* g, const float* x, float* dx) {
  combine_rows(l, g, x, dx);
}

TANDEM_VECTOR_CLONES
void combine(const Linear l, const BFloat16* g, const BFloat16* x, BFloat16* dx) {
  combine_rows(l, g, x, dx);
}

// Turns the sums into the parameters' gradients and the factors of the input's gradient; the
// factors take the memory of the sums.
Linear finish_backward(const BatchNormBackward& op, double* plain, double* sloped) {
  const std::int64_t channels = op.shape.channels;
  const auto rows = static_cast<double>(op.shape.rows);
  auto* const outer = reinterpret_cast<float*>(sloped + channels);
  float* const inner = outer + channels;
  float* const constant = inner + channels;
  for (std::int64_t c = 0; c < channels; ++c) {
    const auto rstd = static_cast<double>(op.rstd.data()[c]);
    const double factor = static_cast<double>(op.gain.data()[c]) * rstd;
    op.dgain.data()[c] = static_cast<float>(sloped[c] * rstd);
    op.dbias.data()[c] = static_cast<float>(plain[c]);
    outer[c] = static_cast<float>(factor);
    inner[c] = static_cast<float>(-factor * rstd * rstd * sloped[c] / rows);
    constant[c] = static_cast<float>(-factor * plain[c] / rows);
  }
  return {op.shape.rows, channels, op.mean.data(), outer, inner, constant};
}

// If the residual's gradient is not asked for, dx holds this gradient between the two passes, so
// that the sum and cut of dy, dabove and y are computed once.
template <class T>
void backward(const BatchNormBackward& op, double* scratch) {
  const BatchNormShape& s = op.shape;
  const T* const x = op.x.as<const T>().data();
  const T* const dy = op.dy.as<const T>().data();
  const Incoming<T> whole{
      dy, data_or_null(op.dabove.as<const T>()), data_or_null(op.y.as<const T>()),
      op.dresidual.empty() ? op.dx.as<T>().data() : op.dresidual.as<T>().data()};
  double* const plain = scratch;
  double* const sloped = scratch + s.channels;
  std::fill(scratch, scratch + 2 * s.channels, 0.0);
  for_each_part(s, [&](std::int64_t row, std::int64_t channel, const Part& part) {
    const std::int64_t at = row * s.channels + channel;
    const Incoming<T> in{whole.dy + at, whole.dabove ? whole.dabove + at : nullptr,
                         whole.y ? whole.y + at : nullptr, whole.g + at};
    ChunkSums sums;
    sums_of(part, x + at, op.mean.data() + channel, in, sums);
    for (int j = 0; j < part.width; ++j) {
      plain[channel + j] += static_cast<double>(sums.plain[j]);
      sloped[channel + j] += static_cast<double>(sums.sloped[j]);
    }
  });
  const bool is_made = whole.dabove != nullptr || whole.y != nullptr;
  if (!is_made && !op.dresidual.empty() && whole.g != dy) std::copy(dy, dy + op.dy.size(), whole.g);
  const Linear linear = finish_backward(op, plain, sloped);
  combine(linear, is_made ? whole.g : dy, x, op.dx.as<T>().data());
}

}  // namespace

Bytes scratch_size(const BatchNormBackward& op) {
  return bytes_of<double>(2 * op.shape.channels) + bytes_of<float>(3 * op.shape.channels);
}

void run(const BatchNormBackward& op, std::byte* scratch) {
  auto* const sums = reinterpret_cast<double*>(scratch);
  if (op.x.dtype() == DType::kBFloat16) return backward<BFloat16>(op, sums);
  backward<float>(op, sums);
}

}  // namespace tandem::host
