// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "common/base/rounding.h"
#include "common/kernels/cuda/column_sums.cuh"
#include "common/kernels/cuda/device_code.h"
#include "common/kernels/cuda/pack.h"
#include "common/kernels/cuda/team.h"
#include "common/kernels/image_shapes.h"
#include "common/kernels/precision.h"

namespace tandem::cuda {

[[nodiscard]] inline Stretches stretches_of(const BatchNormShape& shape,
                                            const ImageOptions& images) {
  return {shape.rows, {shape.channels, images.channels_last ? 1 : shape.positions}};
}

// A thread's way to several packs of the same channels: on the way to each element's parameters
// and from memory it waits once for all of them.
struct Strides {
  static constexpr int kMost = 4;
  std::int64_t size;   // elements of all threads
  std::int64_t apart;  // elements: those before are the threads' first ones

  Strides(const Channels& channels, std::int64_t size_of_all)
      : size(size_of_all),
        apart(round_up(ceil_div(size, std::int64_t{kMost}), channels.count * channels.plane)) {}

  // Calls body(at, packs of a and of b) for the packs at i, i + apart, ...; b may be null. All are
  // loaded before the first call, which may overwrite them.
  template <int width, class T, class Body>
  TANDEM_DEVICE void each(std::int64_t i, const T* a, const T* b, const Body& body) const {
    Pack<T, width> of_a[kMost]{};
    Pack<T, width> of_b[kMost]{};
    for (int k = 0; k < kMost; ++k) {
      const std::int64_t at = i + k * apart;
      if (at < size) of_a[k] = load<width>(a + at);
      if (at < size && b != nullptr) of_b[k] = load<width>(b + at);
    }
    for (int k = 0; k < kMost; ++k) {
      const std::int64_t at = i + k * apart;
      if (at < size) body(at, of_a[k], of_b[k]);
    }
  }
};

// Batch normalisation of each element once the sums are known; over the first elements of
// the threads.

template <class T>
struct BatchNormForwardElements {
  const T* x;
  const T* residual;  // or null
  T* y;               // may be x or the residual
  const float* gain;  // (channels), as all below
  const float* bias;
  const float* mean;
  const float* rstd;
  Channels channels;
  Strides strides;
  bool relu;

  static constexpr int kWidest = kWidestPack<T>;
  [[nodiscard]] bool packed(int width = kPack) const {
    return channels.packed(width) && are_packed(width, x, residual, static_cast<const T*>(y)) &&
           are_packed(width, gain, bias, mean, rstd);
  }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    const std::int64_t c = channels.of(i);
    const auto means = channels.of_each<width>(mean, c);
    const auto offsets = channels.of_each<width>(bias, c);
    const auto gains = channels.of_each<width>(gain, c);
    auto factors = channels.of_each<width>(rstd, c);
    for (int j = 0; j < width; ++j) factors[j] *= gains[j];
    strides.each<width>(i, x, residual, [&](std::int64_t at, auto& values, const auto& others) {
      for (int j = 0; j < width; ++j) {
        float value = (static_cast<float>(values[j]) - means[j]) * factors[j] + offsets[j];
        if (residual != nullptr) value += static_cast<float>(others[j]);
        values[j] = T(relu && value <= 0 ? 0.0F : value);
      }
      store(y + at, values);
    });
  }
};

// dx = gain rstd (g - dbias / rows - n dgain / rows), n = (x - mean) rstd.
template <class T>
struct BatchNormBackwardElements {
  const T* g;
  const T* x;
  T* dx;              // may be g
  const float* gain;  // (channels), as all below
  const float* mean;
  const float* rstd;
  const float* dgain;
  const float* dbias;
  Channels channels;
  Strides strides;
  float over_rows;  // 1 / rows

  static constexpr int kWidest = kWidestPack<T>;
  [[nodiscard]] bool packed(int width = kPack) const {
    return channels.packed(width) && are_packed(width, g, x, static_cast<const T*>(dx)) &&
           are_packed(width, gain, mean, rstd, dgain, dbias);
  }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    const std::int64_t c = channels.of(i);
    const auto means = channels.of_each<width>(mean, c);
    const auto rstds = channels.of_each<width>(rstd, c);
    const auto levels = channels.of_each<width>(dbias, c);
    const auto slopes = channels.of_each<width>(dgain, c);
    auto factors = channels.of_each<width>(gain, c);
    for (int j = 0; j < width; ++j) factors[j] *= rstds[j];
    strides.each<width>(i, g, x, [&](std::int64_t at, auto& gradient, const auto& values) {
      for (int j = 0; j < width; ++j) {
        const float normal = (static_cast<float>(values[j]) - means[j]) * rstds[j];
        const float level = (levels[j] + normal * slopes[j]) * over_rows;
        gradient[j] = T(factors[j] * (static_cast<float>(gradient[j]) - level));
      }
      store(dx + at, gradient);
    });
  }
};

// The moments of a stretch of one channel: how far the mean lies from the channel's first number,
// so that the difference of two means keeps its digits, and the sum of squared distances from the
// mean.
struct Moments {
  float mean;
  float squares;
};

// One pass, over distances from the stretch's first number: that is one of them, so that what the
// squares lose to its distance from the mean is at most a factor of their count.
template <class T>
struct MomentTerms {
  const T* x;  // (rows, channels)
  Moments* partials;

  static constexpr int kRows = 8;
  static constexpr int kWidest = kWidestPack<T>;
  [[nodiscard]] bool packed(int width) const { return are_packed(width, x); }

  TANDEM_DEVICE float origin(std::int64_t from, std::int64_t /*channel*/) const {
    return static_cast<float>(x[from]);
  }

  template <int width>
  TANDEM_DEVICE Pack<T, width> loaded(std::int64_t from) const {
    return load<width>(x + from);
  }

  template <int width>
  TANDEM_DEVICE Pack<FloatPair, width> at(std::int64_t /*from*/, const Pack<T, width>& own,
                                          const Pack<float, width>& origins) const {
    Pack<FloatPair, width> terms;
    for (int j = 0; j < width; ++j) {
      const float distance = static_cast<float>(own[j]) - origins[j];
      terms[j] = {distance, distance * distance};
    }
    return terms;
  }

  TANDEM_DEVICE void keep(std::int64_t i, FloatPair sum, float origin, std::int64_t rows,
                          std::int64_t zero) const {
    const auto count = static_cast<float>(rows);
    const float squares = sum.second - sum.first * sum.first / count;
    partials[i] = {origin - static_cast<float>(x[zero]) + sum.first / count,
                   squares < 0 ? 0.0F : squares};
  }
};

// The form of a channel's moments. Means lie at a distance from the channel's first
// number, so that in double the sum of their squares may be taken off that of all squares.
template <class T>
struct BatchStatistics {
  const T* x;               // (rows, channels)
  const Moments* partials;  // (parts, channels)
  Stretches stretches;
  std::int64_t parts;
  float* running_mean;  // (channels), as all below
  float* running_variance;
  float* mean;
  float* rstd;
  float epsilon;
  float momentum;

  template <class Team>
  TANDEM_DEVICE void row(Team& team, std::int64_t c) const {
    const Pair<double> all = sum_of(team, parts, [&](std::int64_t part) {
      const Moments& own = partials[part * stretches.channels.count + c];
      const auto rows = static_cast<double>(stretches.rows_of(part));
      const auto distance = static_cast<double>(own.mean);
      return Pair<double>{rows * distance,
                          static_cast<double>(own.squares) + rows * distance * distance};
    });
    team.alone([&] {
      const auto rows = static_cast<double>(stretches.rows);
      const double distance = all.first / rows;
      const double rest = all.second - all.first * distance;
      const double squares = rest < 0 ? 0 : rest;
      const double middle =
          static_cast<double>(static_cast<float>(x[stretches.channels.at(0, c)])) + distance;
      mean[c] = static_cast<float>(middle);
      rstd[c] = static_cast<float>(1 / std::sqrt(squares / rows + static_cast<double>(epsilon)));
      advance(running_mean[c], middle);
      advance(running_variance[c], squares / (rows - 1));
    });
  }

  TANDEM_DEVICE void advance(float& running, double value) const {
    const auto share = static_cast<double>(momentum);
    running = static_cast<float>((1 - share) * static_cast<double>(running) + share * value);
  }
};

// The parts of y's gradient. Writes it where it is not dy as it lies. Sums it, and it times
// the distance from the mean.
template <class T>
struct GradientTerms {
  const T* x;  // (rows, channels), as all up to g
  const T* dy;
  const T* dabove = nullptr;  // or null
  const T* y = nullptr;       // of ReLU, or null
  T* g = nullptr;             // or null; may be dy or dabove
  const float* mean = nullptr;
  FloatPair* partials;

  static constexpr int kRows = 4;
  static constexpr int kWidest = kWidestPack<T>;
  [[nodiscard]] bool packed(int width) const {
    return are_packed(width, x, dy, dabove, y, static_cast<const T*>(g));
  }

  template <int width>
  struct Operands {
    Pack<T, width> x, dy, dabove, y;
  };

  TANDEM_DEVICE float origin(std::int64_t /*from*/, std::int64_t channel) const {
    return mean == nullptr ? 0 : mean[channel];
  }

  template <int width>
  TANDEM_DEVICE Operands<width> loaded(std::int64_t from) const {
    Operands<width> own{load<width>(x + from), load<width>(dy + from), {}, {}};
    if (dabove != nullptr) own.dabove = load<width>(dabove + from);
    if (y != nullptr) own.y = load<width>(y + from);
    return own;
  }

  template <int width>
  TANDEM_DEVICE Pack<FloatPair, width> at(std::int64_t from, const Operands<width>& own,
                                          const Pack<float, width>& origins) const {
    Pack<T, width> gradient = own.dy;
    Pack<FloatPair, width> terms;
    for (int j = 0; j < width; ++j) {
      if (dabove != nullptr) {
        gradient[j] = T(static_cast<float>(gradient[j]) + static_cast<float>(own.dabove[j]));
      }
      if (y != nullptr && static_cast<float>(own.y[j]) <= 0) gradient[j] = T(0.0F);
      const auto value = static_cast<float>(gradient[j]);
      terms[j] = {value, value * (static_cast<float>(own.x[j]) - origins[j])};
    }
    if (g != nullptr) store(g + from, gradient);
    return terms;
  }

  TANDEM_DEVICE void keep(std::int64_t i, FloatPair sum, float /*origin*/, std::int64_t /*rows*/,
                          std::int64_t /*zero*/) const {
    partials[i] = sum;
  }
};

}  // namespace tandem::cuda
