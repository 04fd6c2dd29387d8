// SPDX-License-Identifier: Apache-2.0
//
// Layer normalisation of rows, in fp32 whatever T is. A team (team.h) takes kRowsAtOnce
// of them together, in packs, which stay with its members.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/kernels/cuda/column_sums.cuh"
#include "common/kernels/cuda/device_code.h"
#include "common/kernels/cuda/pack.h"
#include "common/kernels/cuda/team.h"

namespace tandem::cuda {

// The part of each row in a band: kRowsAtOnce rows, of which the last of all has fewer.
template <class Value>
using OfRows = Pack<Value, kRowsAtOnce>;

// The rows first .. end - 1 of (rows, width), in packs. What lies past the end is read as the last
// row, so that nothing stands between the loads.
template <int pack>
struct Band {
  std::int64_t first;
  std::int64_t end;
  std::int64_t width;

  [[nodiscard]] TANDEM_DEVICE bool has(int k) const { return first + k < end; }
  [[nodiscard]] TANDEM_DEVICE std::int64_t row(int k) const { return has(k) ? first + k : end - 1; }
  [[nodiscard]] TANDEM_DEVICE std::int64_t at(int k, std::int64_t i) const {
    return row(k) * width + i * pack;
  }
  template <class T>
  [[nodiscard]] TANDEM_DEVICE OfRows<Pack<T, pack>> loaded(const T* from, std::int64_t i) const {
    OfRows<Pack<T, pack>> values;
    for (int k = 0; k < kRowsAtOnce; ++k) values[k] = load<pack>(from + at(k, i));
    return values;
  }
};

template <class T>
struct NormForwardRows {
  const float* x;       // (rows, width)
  const T* branch;      // (rows, width), or null
  const float* gain;    // (width)
  const float* offset;  // (width): what is called bias
  float* sum;           // (rows, width); not written where branch is null
  T* y;                 // (rows, width)
  float* mean;          // (rows)
  float* rstd;          // (rows)
  std::int64_t rows;
  std::int64_t width;
  float epsilon;

  [[nodiscard]] bool packed() const {
    return width % kPack == 0 && are_packed(x, gain, offset, static_cast<const float*>(sum)) &&
           are_packed(branch, static_cast<const T*>(y));
  }

  template <int pack, class Team>
  TANDEM_DEVICE void row(Team& team, std::int64_t i) const {
    const std::int64_t next = (i + 1) * kRowsAtOnce;
    const Band<pack> band{i * kRowsAtOnce, next < rows ? next : rows, width};
    const auto own =
        team.keep(width / pack, [&](std::int64_t at) { return added<pack>(band, at); });
    // The mean over each row of term(k, value).
    const auto averages = [&](const auto& term) {
      auto sums = sum_of(team, width / pack, [&](std::int64_t at) {
        const auto values = own(at);
        OfRows<float> terms{};
        for (int k = 0; k < kRowsAtOnce; ++k) {
          for (int j = 0; j < pack; ++j) terms[k] += term(k, values[k][j]);
        }
        return terms;
      });
      for (float& sum_of_row : sums.values) sum_of_row /= static_cast<float>(width);
      return sums;
    };
    const auto means = averages([](int /*k*/, float value) { return value; });
    auto inverses =
        averages([&](int k, float value) { return (value - means[k]) * (value - means[k]); });
    for (float& inverse : inverses.values) inverse = 1 / std::sqrt(inverse + epsilon);
    team.each(width / pack,
              [&](std::int64_t at) { write<pack>(band, at, own(at), means, inverses); });
    team.alone([&] {
      for (int k = 0; k < kRowsAtOnce && band.has(k); ++k) {
        mean[band.row(k)] = means[k];
        rstd[band.row(k)] = inverses[k];
      }
    });
  }

  template <int pack>
  TANDEM_DEVICE OfRows<Pack<float, pack>> added(const Band<pack>& band, std::int64_t i) const {
    auto values = band.loaded(x, i);
    if (branch == nullptr) return values;
    const auto others = band.loaded(branch, i);
    for (int k = 0; k < kRowsAtOnce; ++k) {
      for (int j = 0; j < pack; ++j) values[k][j] += static_cast<float>(others[k][j]);
    }
    return values;
  }

  template <int pack>
  TANDEM_DEVICE void write(const Band<pack>& band, std::int64_t i,
                           const OfRows<Pack<float, pack>>& values, const OfRows<float>& means,
                           const OfRows<float>& inverses) const {
    const auto gains = load<pack>(gain + i * pack);
    const auto offsets = load<pack>(offset + i * pack);
    for (int k = 0; k < kRowsAtOnce; ++k) {
      if (!band.has(k)) break;
      Pack<T, pack> results;
      for (int j = 0; j < pack; ++j) {
        results[j] = T((values[k][j] - means[k]) * inverses[k] * gains[j] + offsets[j]);
      }
      if (branch != nullptr) store(sum + band.at(k, i), values[k]);
      store(y + band.at(k, i), results);
    }
  }
};

// With n the normalised row and g = dy gain: dsum = rstd (g - mean(g) - n mean(g n)) + dabove. The
// gradients of the parameters are sums over all rows: here those over a stretch of rows.
template <class T>
struct NormBackwardRows {
  const T* dy;          // (rows, width)
  const float* sum;     // (rows, width)
  const float* gain;    // (width)
  const float* mean;    // (rows)
  const float* rstd;    // (rows)
  const float* dabove;  // (rows, width), or null
  float* dsum;          // (rows, width), may be dabove
  T* dbranch;           // (rows, width), or null
  FloatPair* partials;  // (stretches, width): of dbias and dgain
  std::int64_t rows;
  std::int64_t width;
  std::int64_t rows_each;  // of a stretch; the last may have fewer

  [[nodiscard]] bool packed() const {
    return width % kPack == 0 && are_packed(sum, gain, dabove, static_cast<const float*>(dsum)) &&
           are_packed(dy, static_cast<const T*>(dbranch));
  }

  template <int pack, class Team>
  TANDEM_DEVICE void row(Team& team, std::int64_t stretch) const {
    const std::int64_t packs = width / pack;
    auto* const kept = reinterpret_cast<Pack<FloatPair, pack>*>(partials) + stretch * packs;
    auto gradients = team.running(packs, kept);
    team.each(packs, [&](std::int64_t i) { gradients[i] = {}; });
    const std::int64_t next = (stretch + 1) * rows_each;
    const std::int64_t end = next < rows ? next : rows;
    for (std::int64_t first = stretch * rows_each; first < end; first += kRowsAtOnce) {
      pass(team, Band<pack>{first, end, width}, gradients);
    }
    team.each(packs, [&](std::int64_t i) { kept[i] = gradients[i]; });
  }

  template <int pack>
  struct Operands {
    OfRows<Pack<T, pack>> dy;
    OfRows<Pack<float, pack>> normalised;
    OfRows<Pack<float, pack>> dabove;
  };

  template <int pack>
  TANDEM_DEVICE Operands<pack> loaded(const Band<pack>& band, std::int64_t i) const {
    Operands<pack> own{band.loaded(dy, i), band.loaded(sum, i), {}};
    if (dabove != nullptr) own.dabove = band.loaded(dabove, i);
    for (int k = 0; k < kRowsAtOnce; ++k) {
      const float middle = mean[band.row(k)];
      const float inverse = rstd[band.row(k)];
      for (float& value : own.normalised[k].values) value = (value - middle) * inverse;
    }
    return own;
  }

  template <int pack, class Team, class Gradients>
  TANDEM_DEVICE void pass(Team& team, const Band<pack>& band, Gradients& gradients) const {
    const auto operands = team.keep(width / pack, [&](std::int64_t i) { return loaded(band, i); });
    const auto sums = sum_of(team, width / pack, [&](std::int64_t i) {
      const auto gains = load<pack>(gain + i * pack);
      const auto own = operands(i);
      OfRows<FloatPair> terms{};
      for (int k = 0; k < kRowsAtOnce; ++k) {
        for (int j = 0; j < pack; ++j) {
          const float g = static_cast<float>(own.dy[k][j]) * gains[j];
          terms[k] = terms[k] + FloatPair{g, g * own.normalised[k][j]};
        }
      }
      return terms;
    });
    team.each(width / pack, [&](std::int64_t i) {
      const auto own = operands(i);
      for (int k = 0; k < kRowsAtOnce; ++k) {
        if (!band.has(k)) break;
        for (int j = 0; j < pack; ++j) {
          const auto dy_of_j = static_cast<float>(own.dy[k][j]);
          gradients[i][j] = gradients[i][j] + FloatPair{dy_of_j, dy_of_j * own.normalised[k][j]};
        }
        write(band, k, i, own, sums[k]);
      }
    });
  }

  template <int pack>
  TANDEM_DEVICE void write(const Band<pack>& band, int k, std::int64_t i, const Operands<pack>& own,
                           const FloatPair& sums) const {
    const auto gains = load<pack>(gain + i * pack);
    const float level = sums.first / static_cast<float>(width);
    const float tilt = sums.second / static_cast<float>(width);
    const float inverse = rstd[band.row(k)];
    Pack<float, pack> results;
    Pack<T, pack> narrow;
    for (int j = 0; j < pack; ++j) {
      const float g = static_cast<float>(own.dy[k][j]) * gains[j];
      results[j] = inverse * (g - level - own.normalised[k][j] * tilt);
      if (dabove != nullptr) results[j] += own.dabove[k][j];
      narrow[j] = T(results[j]);
    }
    store(dsum + band.at(k, i), results);
    if (dbranch != nullptr) store(dbranch + band.at(k, i), narrow);
  }
};

// The sums of the stretches, by a name that traces can distinguish from batch normalisation's.
struct NormGradientSums : ParameterGradients {};

}  // namespace tandem::cuda
