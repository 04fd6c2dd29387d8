// SPDX-License-Identifier: Apache-2.0
//
// Sums over the rows of (rows, channels): first over stretches of rows, by teams (team.h) that
// share a stretch of a channel, or of a pack of channels where those are last; then, by a team a
// channel, over the stretches, in double. The order depends on the shape alone where channels are
// last.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "common/base/rounding.h"
#include "common/kernels/cuda/device_code.h"
#include "common/kernels/cuda/pack.h"
#include "common/kernels/cuda/team.h"

namespace tandem::cuda {

// The layout of channels: `plane` elements of one follow each other, of an image or, where channels
// are last, one.
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
    if (plane == 1) return load<width>(parameters + c);
    Pack<float, width> own;
    for (float& value : own.values) value = parameters[c];
    return own;
  }
  [[nodiscard]] TANDEM_DEVICE std::int64_t at(std::int64_t row, std::int64_t channel) const {
    if (plane == 1) return row * count + channel;
    const auto [image, place] = divide(row, plane);
    return (image * count + channel) * plane + place;
  }
};

// Stretches of the rows of each channel: about as many as keep a GPU busy, and no shorter than
// gives every thread of a block kRowsOfThread rows.
struct Stretches {
  static constexpr int kMostTeams = 32;
  static constexpr int kRowsOfThread = 8;

  std::int64_t rows;
  Channels channels;
  std::int64_t rows_each;  // the last may have fewer

  Stretches(std::int64_t all_rows, const Channels& where) : rows(all_rows), channels(where) {
    constexpr std::int64_t kBlocks = 1024;
    const std::int64_t blocks_each =
        ceil_div(channels.count, channels.plane == 1 ? teams() * kWidePack : 1);
    rows_each = round_up(ceil_div(rows, ceil_div(kBlocks, blocks_each)),
                         std::int64_t{kThreads} / teams() * kRowsOfThread);
  }

  // Teams side by side in a block, a power of two: for neighbouring packs where channels are last.
  [[nodiscard]] unsigned teams() const {
    if (channels.plane != 1) return 1;
    const std::int64_t packs = ceil_div(channels.count, std::int64_t{kWidePack});
    return std::bit_ceil(static_cast<unsigned>(std::min(packs, std::int64_t{kMostTeams})));
  }
  [[nodiscard]] std::int64_t parts() const { return ceil_div(rows, rows_each); }
  [[nodiscard]] std::int64_t sums() const { return parts() * channels.count; }
  [[nodiscard]] TANDEM_DEVICE std::int64_t rows_of(std::int64_t part) const {
    const std::int64_t left = rows - part * rows_each;
    return left < rows_each ? left : rows_each;
  }
};

template <int width>
using Sums = Pack<FloatPair, width>;

// The sums over stretches of what Terms has of each element, at a distance from an origin:
//   origin(from, channel)           of the channel whose first element lies at `from`
//   loaded<width>(from)             the operands from there on
//   at<width>(from, operands, origins)  pairs of numbers to be summed
//   kRows                           packs whose operands a thread waits for at once
//   keep(i, sum, origin, rows, zero)  the i-th partial sum, of so many rows; zero is the place of
//                                   the channel's first number. They lie as (parts, channels).
template <class Terms>
struct StretchSums {
  Terms terms;
  Stretches stretches;

  static constexpr int kWidest = Terms::kWidest;
  [[nodiscard]] bool packed(int width = kPack) const {
    return stretches.channels.packed(width) && terms.packed(width);
  }
  // Packs of channels, or channels whose rows are packed.
  [[nodiscard]] std::int64_t packs(int width) const {
    return stretches.channels.plane == 1 ? stretches.channels.count / width
                                         : stretches.channels.count;
  }

  template <int width, bool last, class Team>
  TANDEM_DEVICE void sum(Team& team, std::int64_t part, std::int64_t pack) const {
    const Channels& channels = stretches.channels;
    const std::int64_t channel = last ? pack * width : pack;
    const std::int64_t rows = stretches.rows_of(part);
    const std::int64_t count = last ? rows : rows / width;
    constexpr int kAtOnce = last ? Terms::kRows : Terms::kRows / 2;  // places take registers, too
    const std::int64_t apart = count / kAtOnce;
    const auto place = [&](std::int64_t i) {
      const std::int64_t row = part * stretches.rows_each + (last ? i : i * width);
      return last ? row * channels.count + channel : channels.at(row, channel);
    };
    Pack<float, width> origins;
    for (int j = 0; j < width; ++j) {
      const int own = last ? j : 0;
      origins[j] = terms.origin(place(0) + own, channel + own);
    }
    // Some packs at once, `apart` from each other; then those that are left.
    Sums<width> sums = team.reduce(
        apart + count % kAtOnce, Sums<width>{},
        [&](const Sums<width>& before, std::int64_t i) {
          return i < apart ? add<kAtOnce>(before, i, apart, place, origins)
                           : add<1>(before, i + apart * (kAtOnce - 1), 0, place, origins);
        },
        [](const Sums<width>& a, const Sums<width>& b) { return a + b; });
    team.alone([&] {
      for (int j = 1; j < width; ++j) {
        if (!last) sums[0] = sums[0] + sums[j];
      }
      for (int j = 0; j < (last ? width : 1); ++j) {
        terms.keep(part * channels.count + channel + j, sums[j], origins[j], rows,
                   channels.at(0, channel + j));
      }
    });
  }

  // Loads everything first: what is stored might, for all that the compiler knows, change it.
  template <int packs, int width, class Place>
  TANDEM_DEVICE Sums<width> add(const Sums<width>& before, std::int64_t i, std::int64_t apart,
                                const Place& place, const Pack<float, width>& origins) const {
    decltype(terms.template loaded<width>(i)) operands[packs];
    for (int k = 0; k < packs; ++k)
      operands[k] = terms.template loaded<width>(place(i + k * apart));
    Sums<width> sums = before;
    for (int k = 0; k < packs; ++k) {
      sums = sums + terms.at(place(i + k * apart), operands[k], origins);
    }
    return sums;
  }
};

// The gradients of a channel's gain and bias.
struct ParameterGradients {
  const FloatPair* partials;  // (parts, channels)
  std::int64_t parts;
  std::int64_t channels;
  const float* rstd;  // (channels), as all below; null where partial sums hold it
  float* dgain;       // or null
  float* dbias;

  template <class Team>
  TANDEM_DEVICE void row(Team& team, std::int64_t c) const {
    const Pair<double> all = sum_of(team, parts, [&](std::int64_t part) {
      const FloatPair& own = partials[part * channels + c];
      return Pair<double>{static_cast<double>(own.first), static_cast<double>(own.second)};
    });
    team.alone([&] {
      const double factor = rstd == nullptr ? 1 : static_cast<double>(rstd[c]);
      if (dgain != nullptr) dgain[c] = static_cast<float>(all.second * factor);
      dbias[c] = static_cast<float>(all.first);
    });
  }
};

}  // namespace tandem::cuda
