// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation's sums over rows, (rows, channels): first over stretches of rows, where
// channels are last a thread for each stretch and channel, or pack of channels, else a team
// (team.h); then, by a team a channel, over the stretches, in double. Always in the same order.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/base/rounding.h"
#include "common/kernels/cuda/device_code.h"
#include "common/kernels/cuda/pack.h"
#include "common/kernels/cuda/team.h"

namespace tandem::cuda {

// Where channels lie: `plane` elements of one follow each other, of an image or, where channels are
// last, one.
struct Channels {
  std::int64_t count;
  std::int64_t plane;

  [[nodiscard]] bool packed(int width) const { return (plane == 1 ? count : plane) % width == 0; }
  // The channel of element i.
  [[nodiscard]] TANDEM_DEVICE std::int64_t of(std::int64_t i) const {
    return divide(plane == 1 ? i : divide(i, plane).quotient, count).remainder;
  }
  // The parameter of each element of a pack that begins with channel c.
  template <int width>
  [[nodiscard]] TANDEM_DEVICE Pack<float, width> of_each(const float* parameters,
                                                         std::int64_t c) const {
    constexpr int kAtOnce = width < kPack ? width : kPack;
    Pack<float, width> own;
    for (int j = 0; j < width; j += kAtOnce) {
      Pack<float, kAtOnce> some;
      if (plane == 1) some = load<kAtOnce>(parameters + c + j);
      for (int k = 0; k < kAtOnce; ++k) own[j + k] = plane == 1 ? some[k] : parameters[c];
    }
    return own;
  }
  [[nodiscard]] TANDEM_DEVICE std::int64_t at(std::int64_t row, std::int64_t channel) const {
    if (plane == 1) return row * count + channel;
    const auto [image, place] = divide(row, plane);
    return (image * count + channel) * plane + place;
  }
};

// Where a thread finds several packs of the same channels: on the way to each element's parameters
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

// What batch normalisation does to each element once the sums are known; over the first elements of
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
           are_packed(gain, bias, mean, rstd);
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
           are_packed(gain, mean, rstd, dgain, dbias);
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
  [[nodiscard]] TANDEM_DEVICE std::int64_t end(std::int64_t part) const {
    const std::int64_t last = (part + 1) * rows_each;
    return last < rows ? last : rows;
  }
  // The stretch of the i-th partial sum; partial sums lie as (parts, channels).
  [[nodiscard]] TANDEM_DEVICE Stretch of(std::int64_t i) const {
    const auto [part, channel] = divide(i, channels.count);
    return {channel, part * rows_each, end(part)};
  }
};

// The sums over stretches of what Terms has of each element, at a distance from its channel's
// origin:
//   origins<width>(from, channel)   of the channels whose first elements lie from `from` on
//   loaded<width>(from)             the operands from there on
//   at<width>(from, operands, origins)  pairs of numbers to be summed
//   kRows                           rows whose operands a thread waits for at once
//   keep(i, sum, origin, rows, zero)  the i-th partial sum, of so many rows; zero is the place of
//                                   the channel's first number
// A thread takes a stretch of a channel, or of a pack of channels, where channels are last; a team
// that of a channel, whose rows it takes in packs of `of_team`.
template <class Terms>
struct StretchSums {
  Terms terms;
  Stretches stretches;
  int of_team = 1;

  static constexpr int kWidest = Terms::kWidest;
  [[nodiscard]] bool packed(int width = kPack) const {
    return stretches.channels.packed(width) && terms.packed(width);
  }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    const std::int64_t apart = stretches.channels.count;
    const Stretch part = stretches.of(i);
    std::int64_t from = part.first * apart + part.channel;
    const Pack<float, width> origins = terms.template origins<width>(from, part.channel);
    Pack<FloatPair, width> sums{};
    std::int64_t left = part.end - part.first;
    for (; left >= Terms::kRows; left -= Terms::kRows, from += Terms::kRows * apart) {
      add<Terms::kRows>(from, origins, sums);
    }
    for (; left > 0; --left, from += apart) add<1>(from, origins, sums);
    for (int j = 0; j < width; ++j) {
      terms.keep(i + j, sums[j], origins[j], part.end - part.first, part.channel + j);
    }
  }

  // Loads everything first: what is stored might, for all that the compiler knows, change it.
  template <int rows, int width>
  TANDEM_DEVICE void add(std::int64_t from, const Pack<float, width>& origins,
                         Pack<FloatPair, width>& sums) const {
    const std::int64_t apart = stretches.channels.count;
    decltype(terms.template loaded<width>(from)) operands[rows];
    for (int r = 0; r < rows; ++r) operands[r] = terms.template loaded<width>(from + r * apart);
    for (int r = 0; r < rows; ++r) {
      const auto own = terms.at(from + r * apart, operands[r], origins);
      for (int j = 0; j < width; ++j) sums[j] = sums[j] + own[j];
    }
  }

  template <class Team>
  TANDEM_DEVICE void row(Team& team, std::int64_t i) const {
    of_team == 1       ? row_in<1>(team, i)
    : of_team == kPack ? row_in<kPack>(team, i)
                       : row_in<kWidest>(team, i);
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
      const std::int64_t from = channels.at(part.first + k * width, part.channel);
      const auto own = terms.at(from, terms.template loaded<width>(from), origins);
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

  static constexpr int kRows = 8;
  static constexpr int kWidest = kWidestPack<T>;
  [[nodiscard]] bool packed(int width) const { return are_packed(width, x); }

  template <int width>
  TANDEM_DEVICE Pack<float, width> origins(std::int64_t from, std::int64_t /*channel*/) const {
    const Pack<T, width> own = loaded<width>(from);
    Pack<float, width> first;
    for (int j = 0; j < width; ++j) first[j] = static_cast<float>(own[j]);
    return first;
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

struct WidePair {
  double first;
  double second;

  TANDEM_DEVICE WidePair operator+(const WidePair& other) const {
    return {first + other.first, second + other.second};
  }
};

// What the moments of a channel are kept as. Means lie at a distance from the channel's first
// number, so that in double the sum of their squares may be taken off that of all squares.
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
    const WidePair all = sum_of(team, stretches.parts(), [&](std::int64_t part) {
      const Moments& own = partials[part * stretches.channels.count + c];
      const auto rows = static_cast<double>(stretches.end(part) - part * stretches.rows_each);
      const auto distance = static_cast<double>(own.mean);
      return WidePair{rows * distance,
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

  static constexpr int kRows = 4;
  static constexpr int kWidest = kWidestPack<T>;
  [[nodiscard]] bool packed(int width) const {
    return are_packed(width, x, dy, dabove, y, static_cast<const T*>(g));
  }

  template <int width>
  struct Operands {
    Pack<T, width> x, dy, dabove, y;
  };

  template <int width>
  TANDEM_DEVICE Pack<float, width> origins(std::int64_t /*from*/, std::int64_t channel) const {
    Pack<float, width> means;
    for (int j = 0; j < width; ++j) means[j] = mean[channel + j];
    return means;
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
