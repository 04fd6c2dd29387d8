// SPDX-License-Identifier: Apache-2.0
//
// The formulas behind naive() of the transformer operations; naive_loops.h has those of other
// operations. Everything between operands is in double.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "common/kernels/class_index.h"
#include "common/kernels/operations.h"

namespace tandem::naive_loops {

template <class T>
void embedding_forward(const EmbeddingShape& s, const float* ids /* (rows) */,
                       const T* tokens /* (vocabulary, width) */,
                       const T* places /* (positions, width) */, T* y /* (rows, width) */) {
  for (std::int64_t r = 0; r < s.rows; ++r) {
    const T* const token = tokens + class_index(ids[r], s.vocabulary, "ids", r) * s.width;
    const T* const place = places + r % s.positions * s.width;
    for (std::int64_t i = 0; i < s.width; ++i) y[r * s.width + i] = token[i] + place[i];
  }
}

// dtokens[id] + all rows of dy whose token is id, rounded once.
template <class T>
void embedding_backward_tokens(const EmbeddingShape& s, const float* ids /* (rows) */,
                               const T* dy /* (rows, width) */,
                               T* dtokens /* (vocabulary, width) */) {
  std::map<std::int64_t, std::vector<double>> sums;
  for (std::int64_t r = 0; r < s.rows; ++r) {
    const std::int64_t id = class_index(ids[r], s.vocabulary, "ids", r);
    const T* const before = dtokens + id * s.width;
    std::vector<double>& sum = sums.try_emplace(id, before, before + s.width).first->second;
    for (std::int64_t i = 0; i < s.width; ++i) {
      sum[static_cast<std::size_t>(i)] += dy[r * s.width + i];
    }
  }
  for (const auto& [id, sum] : sums) {
    for (std::int64_t i = 0; i < s.width; ++i) {
      dtokens[id * s.width + i] = static_cast<T>(sum[static_cast<std::size_t>(i)]);
    }
  }
}

template <class T>
void embedding_backward_places(const EmbeddingShape& s, const T* dy /* (rows, width) */,
                               T* dplaces /* (positions, width) */) {
  for (std::int64_t i = 0; i < s.positions * s.width; ++i) {
    double sum = 0;
    for (std::int64_t at = i; at < s.rows * s.width; at += s.positions * s.width) sum += dy[at];
    dplaces[i] = static_cast<T>(sum);
  }
}

template <class T>
struct NormForwardArrays {
  const T* sum;   // (rows, width)
  const T* gain;  // (width)
  const T* bias;  // (width)
  T* y;           // (rows, width)
  T* mean;        // (rows)
  T* rstd;        // (rows)
};

// The forward pass from the sum of x and branch on.
template <class T>
void layer_norm_forward(const NormShape& s, const NormForwardArrays<T>& a, double epsilon) {
  const auto width = static_cast<double>(s.width);
  for (std::int64_t r = 0; r < s.rows; ++r) {
    const T* const row = a.sum + r * s.width;
    double mean = 0;
    for (std::int64_t i = 0; i < s.width; ++i) mean += row[i] / width;
    double variance = 0;
    for (std::int64_t i = 0; i < s.width; ++i)
      variance += (row[i] - mean) * (row[i] - mean) / width;
    const double rstd = 1 / std::sqrt(variance + epsilon);
    for (std::int64_t i = 0; i < s.width; ++i) {
      a.y[r * s.width + i] = static_cast<T>((row[i] - mean) * rstd * a.gain[i] + a.bias[i]);
    }
    a.mean[r] = static_cast<T>(mean);
    a.rstd[r] = static_cast<T>(rstd);
  }
}

template <class T>
struct NormBackwardArrays {
  const T* dy;      // (rows, width)
  const T* sum;     // (rows, width)
  const T* gain;    // (width)
  const T* mean;    // (rows)
  const T* rstd;    // (rows)
  const T* dabove;  // (rows, width), or none
  T* dsum;          // (rows, width), may be dabove
  T* dgain;         // (width)
  T* dbias;         // (width)
};

// With n the normalised row and g = dy gain: dsum = rstd (g - mean(g) - n mean(g n)) + dabove.
template <class T>
void layer_norm_backward_input(const NormShape& s, const NormBackwardArrays<T>& a) {
  const auto width = static_cast<double>(s.width);
  for (std::int64_t r = 0; r < s.rows; ++r) {
    const T* const dy = a.dy + r * s.width;
    const auto normalised = [&](std::int64_t i) {
      return (double{a.sum[r * s.width + i]} - a.mean[r]) * a.rstd[r];
    };
    double mean = 0;
    double slope = 0;
    for (std::int64_t i = 0; i < s.width; ++i) {
      const double g = double{dy[i]} * a.gain[i];
      mean += g / width;
      slope += g * normalised(i) / width;
    }
    for (std::int64_t i = 0; i < s.width; ++i) {
      const double above = a.dabove ? double{a.dabove[r * s.width + i]} : 0;
      const double g = double{dy[i]} * a.gain[i];
      a.dsum[r * s.width + i] =
          static_cast<T>(a.rstd[r] * (g - mean - normalised(i) * slope) + above);
    }
  }
}

template <class T>
void layer_norm_backward_parameters(const NormShape& s, const NormBackwardArrays<T>& a) {
  for (std::int64_t i = 0; i < s.width; ++i) {
    double dgain = 0;
    double dbias = 0;
    for (std::int64_t r = 0; r < s.rows; ++r) {
      const double dy = a.dy[r * s.width + i];
      dgain += dy * (double{a.sum[r * s.width + i]} - a.mean[r]) * a.rstd[r];
      dbias += dy;
    }
    a.dgain[i] = static_cast<T>(dgain);
    a.dbias[i] = static_cast<T>(dbias);
  }
}

}  // namespace tandem::naive_loops
