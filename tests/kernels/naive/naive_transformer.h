// SPDX-License-Identifier: Apache-2.0
//
// The formulas behind naive() of attention, one pair of positions after the other, of embeddings
// and of layer normalisation; naive_loops.h has those of other operations. Everything between
// operands is in double.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "common/kernels/operands.h"
#include "common/kernels/operations.h"
#include "tests/kernels/naive/naive_loops.h"

namespace tandem::naive_loops {

// One head of one sample.
struct Head {
  const AttentionShape& shape;
  std::int64_t sample;
  std::int64_t head;

  // The first element of a position's query, key or value (part 0, 1, 2), in qkv and dqkv.
  [[nodiscard]] std::int64_t packed(std::int64_t position, int part) const {
    return ((sample * shape.positions + position) * 3 + part) * shape.width() +
           head * shape.head_width;
  }
  // The first element of a position's result, in y and dy.
  [[nodiscard]] std::int64_t result(std::int64_t position) const {
    return (sample * shape.positions + position) * shape.width() + head * shape.head_width;
  }
  // A position's element of log_sums.
  [[nodiscard]] std::int64_t row(std::int64_t position) const {
    return (sample * shape.heads + head) * shape.positions + position;
  }
  [[nodiscard]] double scale() const {
    return 1 / std::sqrt(static_cast<double>(shape.head_width));
  }
};

template <class Function>
void for_each_head(const AttentionShape& shape, Function&& function) {
  for (std::int64_t sample = 0; sample < shape.batch; ++sample) {
    for (std::int64_t head = 0; head < shape.heads; ++head) function(Head{shape, sample, head});
  }
}

inline double dot(std::int64_t count, const float* a, const float* b) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += double{a[i]} * b[i];
  return sum;
}

inline double score(const Head& h, const float* qkv, std::int64_t query, std::int64_t key) {
  return h.scale() * dot(h.shape.head_width, qkv + h.packed(query, 0), qkv + h.packed(key, 1));
}

inline void attention_forward(const AttentionShape& shape, const float* qkv, float* y,
                              float* log_sums) {
  for_each_head(shape, [&](const Head& h) {
    for (std::int64_t query = 0; query < shape.positions; ++query) {
      std::vector<double> scores;
      for (std::int64_t key = 0; key <= query; ++key) scores.push_back(score(h, qkv, query, key));
      const double log_sum = log_sum_exp(query + 1, scores.data());
      log_sums[h.row(query)] = static_cast<float>(log_sum);
      for (std::int64_t i = 0; i < shape.head_width; ++i) {
        double sum = 0;
        for (std::int64_t key = 0; key <= query; ++key) {
          sum +=
              std::exp(scores[static_cast<std::size_t>(key)] - log_sum) * qkv[h.packed(key, 2) + i];
        }
        y[h.result(query) + i] = static_cast<float>(sum);
      }
    }
  });
}

struct AttentionBackwardArrays {
  const float* qkv;       // (batch, positions, 3, heads, head_width)
  const float* y;         // (batch, positions, heads, head_width)
  const float* dy;        // as y
  const float* log_sums;  // (batch, heads, positions)
  double* dqkv;           // as qkv, zero before
};

// With p the probability of a pair, dp = dy . v: dv += p dy; and the gradient of the pair's score
// is the softmax's gradient p (dp - sum(p dp)), where sum(p dp) over the row is dy . y.
inline void attention_backward(const AttentionShape& shape, const AttentionBackwardArrays& a) {
  for_each_head(shape, [&](const Head& h) {
    for (std::int64_t query = 0; query < shape.positions; ++query) {
      const float* const dy = a.dy + h.result(query);
      const double row = dot(shape.head_width, dy, a.y + h.result(query));
      for (std::int64_t key = 0; key <= query; ++key) {
        const double p = std::exp(score(h, a.qkv, query, key) - a.log_sums[h.row(query)]);
        const double dp = dot(shape.head_width, dy, a.qkv + h.packed(key, 2));
        const double dscore = p * (dp - row) * h.scale();
        for (std::int64_t i = 0; i < shape.head_width; ++i) {
          a.dqkv[h.packed(query, 0) + i] += dscore * a.qkv[h.packed(key, 1) + i];
          a.dqkv[h.packed(key, 1) + i] += dscore * a.qkv[h.packed(query, 0) + i];
          a.dqkv[h.packed(key, 2) + i] += p * dy[i];
        }
      }
    }
  });
}

inline void embedding_forward(const EmbeddingShape& s, const float* ids /* (rows) */,
                              const float* tokens /* (vocabulary, width) */,
                              const float* places /* (positions, width) */,
                              float* y /* (rows, width) */) {
  for (std::int64_t r = 0; r < s.rows; ++r) {
    const float* const token = tokens + class_index(ids[r], s.vocabulary, "ids", r) * s.width;
    const float* const place = places + r % s.positions * s.width;
    for (std::int64_t i = 0; i < s.width; ++i) y[r * s.width + i] = token[i] + place[i];
  }
}

// dtokens[id] + all rows of dy whose token is id, rounded once.
inline void embedding_backward_tokens(const EmbeddingShape& s, const float* ids /* (rows) */,
                                      const float* dy /* (rows, width) */,
                                      float* dtokens /* (vocabulary, width) */) {
  std::map<std::int64_t, std::vector<double>> sums;
  for (std::int64_t r = 0; r < s.rows; ++r) {
    const std::int64_t id = class_index(ids[r], s.vocabulary, "ids", r);
    const float* const before = dtokens + id * s.width;
    std::vector<double>& sum = sums.try_emplace(id, before, before + s.width).first->second;
    for (std::int64_t i = 0; i < s.width; ++i) {
      sum[static_cast<std::size_t>(i)] += dy[r * s.width + i];
    }
  }
  for (const auto& [id, sum] : sums) {
    for (std::int64_t i = 0; i < s.width; ++i) {
      dtokens[id * s.width + i] = static_cast<float>(sum[static_cast<std::size_t>(i)]);
    }
  }
}

inline void embedding_backward_places(const EmbeddingShape& s, const float* dy /* (rows, width) */,
                                      float* dplaces /* (positions, width) */) {
  for (std::int64_t i = 0; i < s.positions * s.width; ++i) {
    double sum = 0;
    for (std::int64_t at = i; at < s.rows * s.width; at += s.positions * s.width) sum += dy[at];
    dplaces[i] = static_cast<float>(sum);
  }
}

struct NormForwardArrays {
  const float* sum;   // (rows, width)
  const float* gain;  // (width)
  const float* bias;  // (width)
  float* y;           // (rows, width)
  float* mean;        // (rows)
  float* rstd;        // (rows)
};

// The forward pass from the sum of x and branch on.
inline void layer_norm_forward(const NormShape& s, const NormForwardArrays& a, double epsilon) {
  const auto width = static_cast<double>(s.width);
  for (std::int64_t r = 0; r < s.rows; ++r) {
    const float* const row = a.sum + r * s.width;
    double mean = 0;
    for (std::int64_t i = 0; i < s.width; ++i) mean += row[i] / width;
    double variance = 0;
    for (std::int64_t i = 0; i < s.width; ++i)
      variance += (row[i] - mean) * (row[i] - mean) / width;
    const double rstd = 1 / std::sqrt(variance + epsilon);
    for (std::int64_t i = 0; i < s.width; ++i) {
      a.y[r * s.width + i] = static_cast<float>((row[i] - mean) * rstd * a.gain[i] + a.bias[i]);
    }
    a.mean[r] = static_cast<float>(mean);
    a.rstd[r] = static_cast<float>(rstd);
  }
}

struct NormBackwardArrays {
  const float* dy;      // (rows, width)
  const float* sum;     // (rows, width)
  const float* gain;    // (width)
  const float* mean;    // (rows)
  const float* rstd;    // (rows)
  const float* dabove;  // (rows, width), or none
  float* dsum;          // (rows, width), may be dabove
  float* dgain;         // (width)
  float* dbias;         // (width)
};

// With n the normalised row and g = dy gain: dsum = rstd (g - mean(g) - n mean(g n)) + dabove.
inline void layer_norm_backward_input(const NormShape& s, const NormBackwardArrays& a) {
  const auto width = static_cast<double>(s.width);
  for (std::int64_t r = 0; r < s.rows; ++r) {
    const float* const dy = a.dy + r * s.width;
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
          static_cast<float>(a.rstd[r] * (g - mean - normalised(i) * slope) + above);
    }
  }
}

inline void layer_norm_backward_parameters(const NormShape& s, const NormBackwardArrays& a) {
  for (std::int64_t i = 0; i < s.width; ++i) {
    double dgain = 0;
    double dbias = 0;
    for (std::int64_t r = 0; r < s.rows; ++r) {
      const double dy = a.dy[r * s.width + i];
      dgain += dy * (double{a.sum[r * s.width + i]} - a.mean[r]) * a.rstd[r];
      dbias += dy;
    }
    a.dgain[i] = static_cast<float>(dgain);
    a.dbias[i] = static_cast<float>(dbias);
  }
}

}  // namespace tandem::naive_loops
