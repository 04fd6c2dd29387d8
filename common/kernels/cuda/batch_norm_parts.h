// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation's sums over rows, (rows, channels): first over stretches of rows, where
// channels are last a thread for each stretch and channel, or pack of channels, else a team
// (team.h); then, by a team a channel, over the stretches, in double. Always in the same order.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/kernels/cuda/device_code.h"
#include "common/kernels/cuda/pack.h"
#include "common/kernels/cuda/team.h"

namespace tandem::cuda {

// Where channels lie: `plane` elements of one follow each other, of an image or, where channels are
// last, one.
struct Channels {
  std::int64_t count;
  std::int64_t plane;

  [[nodiscard]] bool packed() const { return (plane == 1 ? count : plane) % kPack == 0; }
  // The channel of element i; with step(), the channel of each in a pack from there on.
  [[nodiscard]] TANDEM_DEVICE std::int64_t of(std::int64_t i) const {
    return divide(plane == 1 ? i : divide(i, plane).quotient, count).remainder;
  }
  [[nodiscard]] TANDEM_DEVICE int step() const { return plane == 1 ? 1 : 0; }
  [[nodiscard]] TANDEM_DEVICE std::int64_t at(std::int64_t row, std::int64_t channel) const {
    if (plane == 1) return row * count + channel;
    const auto [image, place] = divide(row, plane);
    return (image * count + channel) * plane + place;
  }
};

// What batch normalisation does to each element once the sums are known.

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
  bool relu;

  [[nodiscard]] bool packed() const {
    return channels.packed() && are_packed(x, residual, static_cast<const T*>(y));
  }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    const std::int64_t first = channels.of(i);
    Pack<T, width> values = load<width>(x + i);
    Pack<T, width> others{};
    if (residual != nullptr) others = load<width>(residual + i);
    for (int j = 0; j < width; ++j) {
      const std::int64_t c = first + j * channels.step();
      const float distance = static_cast<float>(values[j]) - mean[c];
      float value = distance * (rstd[c] * gain[c]) + bias[c];
      if (residual != nullptr) value += static_cast<float>(others[j]);
      values[j] = T(relu && value <= 0 ? 0.0F : value);
    }
    store(y + i, values);
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
  float over_rows;  // 1 / rows

  [[nodiscard]] bool packed() const {
    return channels.packed() && are_packed(g, x, static_cast<const T*>(dx));
  }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    const std::int64_t first = channels.of(i);
    Pack<T, width> gradient = load<width>(g + i);
    const Pack<T, width> values = load<width>(x + i);
    for (int j = 0; j < width; ++j) {
      const std::int64_t c = first + j * channels.step();
      const float normal = (static_cast<float>(values[j]) - mean[c]) * rstd[c];
      const float level = (dbias[c] + normal * dgain[c]) * over_rows;
      gradient[j] = T(gain[c] * rstd[c] * (static_cast<float>(gradient[j]) - level));
    }
    store(dx + i, gradient);
  }
};

// Some rows of one channel.
struct Stretch {
  std::int64_t channel;
  std::int64_t first;
  std::int64_t end;
};

struct Stretches {
  std::int64_t rows;
  Channels channels;
  std::int64_t rows_each;  // the last may have fewer

  [[nodiscard]] TANDEM_DEVICE std::int64_t parts() const {
    return (rows + rows_each - 1) / rows_each;
  }
  [[nodiscard]] TANDEM_DEVICE std::int64_t first(std::int64_t part) const {
    return part * rows_each;
  }
  [[nodiscard]] TANDEM_DEVICE std::int64_t end(std::int64_t part) const {
    const std::int64_t last = (part + 1) * rows_each;
    return last < rows ? last : rows;
  }
  // The stretch of the i-th partial sum; partial sums lie as (parts, channels).
  [[nodiscard]] TANDEM_DEVICE Stretch of(std::int64_t i) const {
    const auto [part, channel] = divide(i, channels.count);
    return {channel, first(part), end(part)};
  }
};

// The sums over stretches of what Terms has of each element, at a distance from its channel's
// origin:
//   origins<width>(from, channel)   of the channels whose first elements lie from `from` on
//   at<width>(from, origins)        pairs of numbers to be summed
//   keep(i, sum, origin, rows, zero)  the i-th partial sum, of so many rows; zero is the place of
//                                   the channel's first number
// A thread takes a stretch of a channel, or of a pack of channels; a team that of a channel, whose
// rows lie in packs where `wide`.
template <class Terms>
struct StretchSums {
  Terms terms;
  Stretches stretches;
  bool wide = false;

  [[nodiscard]] bool packed() const { return stretches.channels.packed() && terms.packed(); }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    const Channels& channels = stretches.channels;
    const Stretch part = stretches.of(i);
    const Pack<float, width> origins =
        terms.template origins<width>(channels.at(part.first, part.channel), part.channel);
    Pack<FloatPair, width> sums{};
    for (std::int64_t row = part.first; row < part.end; ++row) {
      const auto own = terms.template at<width>(channels.at(row, part.channel), origins);
      for (int j = 0; j < width; ++j) sums[j] = sums[j] + own[j];
    }
    const std::int64_t zero = channels.at(0, part.channel);
    for (int j = 0; j < width; ++j) {
      terms.keep(i + j, sums[j], origins[j], part.end - part.first, zero + j);
    }
  }

  template <class Team>
  TANDEM_DEVICE void row(Team& team, std::int64_t i) const {
    wide ? row_in<kPack>(team, i) : row_in<1>(team, i);
  }

  template <int width, class Team>
  TANDEM_DEVICE void row_in(Team& team, std::int64_t i) const {
    const Channels& channels = stretches.channels;
    const Stretch part = stretches.of(i);
    const float origin =
        terms.template origins<1>(channels.at(part.first, part.channel), part.channel)[0];
    Pack<float, width> origins;
    for (int j = 0; j < width; ++j) origins[j] = origin;
    const FloatPair sums = sum_of(team, (part.end - part.first) / width, [&](std::int64_t k) {
      const auto own =
          terms.template at<width>(channels.at(part.first + k * width, part.channel), origins);
      FloatPair sum{0, 0};
      for (int j = 0; j < width; ++j) sum = sum + own[j];
      return sum;
    });
    team.alone(
        [&] { terms.keep(i, sums, origin, part.end - part.first, channels.at(0, part.channel)); });
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

  [[nodiscard]] bool packed() const { return are_packed(x); }

  template <int width>
  TANDEM_DEVICE Pack<float, width> origins(std::int64_t from, std::int64_t /*channel*/) const {
    const Pack<T, width> own = load<width>(x + from);
    Pack<float, width> first;
    for (int j = 0; j < width; ++j) first[j] = static_cast<float>(own[j]);
    return first;
  }

  template <int width>
  TANDEM_DEVICE Pack<FloatPair, width> at(std::int64_t from,
                                          const Pack<float, width>& origins) const {
    const Pack<T, width> own = load<width>(x + from);
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

// Moments of any number of rows.
struct WideMoments {
  double rows;
  double mean;
  double squares;

  // Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
  // variances", 1979.
  TANDEM_DEVICE WideMoments operator+(const WideMoments& other) const {
    if (other.rows == 0) return *this;
    const double all = rows + other.rows;
    const double distance = other.mean - mean;
    return {all, mean + distance * other.rows / all,
            squares + other.squares + distance * distance * rows * other.rows / all};
  }
};

// What the moments of a channel are kept as.
template <class T>
struct BatchStatistics {
  const T* x;               // (rows, channels)
  const Moments* partials;  // (parts, channels)
  Stretches stretches;
  float* running_mean;  // (channels), as all below
  float* running_variance;
  float* mean;
  float* rstd;
  float epsilon;
  float momentum;

  template <class Team>
  TANDEM_DEVICE void row(Team& team, std::int64_t c) const {
    const WideMoments all = sum_of(team, stretches.parts(), [&](std::int64_t part) {
      const Moments& own = partials[part * stretches.channels.count + c];
      return WideMoments{static_cast<double>(stretches.end(part) - stretches.first(part)),
                         static_cast<double>(own.mean), static_cast<double>(own.squares)};
    });
    team.alone([&] {
      const double middle =
          static_cast<double>(static_cast<float>(x[stretches.channels.at(0, c)])) + all.mean;
      mean[c] = static_cast<float>(middle);
      rstd[c] =
          static_cast<float>(1 / std::sqrt(all.squares / all.rows + static_cast<double>(epsilon)));
      advance(running_mean[c], middle);
      advance(running_variance[c], all.squares / (all.rows - 1));
    });
  }

  TANDEM_DEVICE void advance(float& running, double value) const {
    const auto share = static_cast<double>(momentum);
    running = static_cast<float>((1 - share) * static_cast<double>(running) + share * value);
  }
};

// What the gradient of y is made of. Writes it where it is not dy as it lies. Sums it, and it times
// the distance from the mean.
template <class T>
struct BatchGradientTerms {
  const T* x;  // (rows, channels), as all up to g
  const T* dy;
  const T* dabove;  // or null
  const T* y;       // of ReLU, or null
  T* g;             // or null; may be dy or dabove
  const float* mean;
  FloatPair* partials;

  [[nodiscard]] bool packed() const {
    return are_packed(x, dy, dabove, y, static_cast<const T*>(g));
  }

  template <int width>
  TANDEM_DEVICE Pack<float, width> origins(std::int64_t /*from*/, std::int64_t channel) const {
    Pack<float, width> means;
    for (int j = 0; j < width; ++j) means[j] = mean[channel + j];
    return means;
  }

  template <int width>
  TANDEM_DEVICE Pack<FloatPair, width> at(std::int64_t from,
                                          const Pack<float, width>& origins) const {
    const Pack<T, width> own = load<width>(x + from);
    const Pack<T, width> gradient = gradient_at<width>(from);
    if (g != nullptr) store(g + from, gradient);
    Pack<FloatPair, width> terms;
    for (int j = 0; j < width; ++j) {
      const auto value = static_cast<float>(gradient[j]);
      terms[j] = {value, value * (static_cast<float>(own[j]) - origins[j])};
    }
    return terms;
  }

  TANDEM_DEVICE void keep(std::int64_t i, FloatPair sum, float /*origin*/, std::int64_t /*rows*/,
                          std::int64_t /*zero*/) const {
    partials[i] = sum;
  }

  template <int width>
  TANDEM_DEVICE Pack<T, width> gradient_at(std::int64_t from) const {
    Pack<T, width> gradient = load<width>(dy + from);
    if (dabove != nullptr) {
      const Pack<T, width> above = load<width>(dabove + from);
      for (int j = 0; j < width; ++j) {
        gradient[j] = T(static_cast<float>(gradient[j]) + static_cast<float>(above[j]));
      }
    }
    if (y != nullptr) {
      const Pack<T, width> result = load<width>(y + from);
      for (int j = 0; j < width; ++j) {
        if (static_cast<float>(result[j]) <= 0) gradient[j] = T(0.0F);
      }
    }
    return gradient;
  }
};

struct WidePair {
  double first;
  double second;

  TANDEM_DEVICE WidePair operator+(const WidePair& other) const {
    return {first + other.first, second + other.second};
  }
};

// The gradients of a channel's gain and bias.
struct ParameterGradients {
  const FloatPair* partials;  // (parts, channels)
  std::int64_t parts;
  std::int64_t channels;
  const float* rstd;  // (channels), as all below; null where partial sums hold it
  float* dgain;
  float* dbias;

  template <class Team>
  TANDEM_DEVICE void row(Team& team, std::int64_t c) const {
    const WidePair all = sum_of(team, parts, [&](std::int64_t part) {
      const FloatPair& own = partials[part * channels + c];
      return WidePair{static_cast<double>(own.first), static_cast<double>(own.second)};
    });
    team.alone([&] {
      const double factor = rstd == nullptr ? 1 : static_cast<double>(rstd[c]);
      dgain[c] = static_cast<float>(all.second * factor);
      dbias[c] = static_cast<float>(all.first);
    });
  }
};

}  // namespace tandem::cuda
