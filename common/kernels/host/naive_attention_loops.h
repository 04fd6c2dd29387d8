// SPDX-License-Identifier: Apache-2.0
//
// The formulas behind naive() of attention, one pair of positions after the other; naive_loops.h
// has those of other operations. Everything between operands is in double.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "common/kernels/host/naive_loops.h"

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

template <class T>
double dot(std::int64_t count, const T* a, const T* b) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += double{a[i]} * b[i];
  return sum;
}

template <class T>
double score(const Head& h, const T* qkv, std::int64_t query, std::int64_t key) {
  return h.scale() * dot(h.shape.head_width, qkv + h.packed(query, 0), qkv + h.packed(key, 1));
}

template <class T>
void attention_forward(const AttentionShape& shape, const T* qkv, T* y, T* log_sums) {
  for_each_head(shape, [&](const Head& h) {
    for (std::int64_t query = 0; query < shape.positions; ++query) {
      std::vector<double> scores;
      for (std::int64_t key = 0; key <= query; ++key) scores.push_back(score(h, qkv, query, key));
      const double log_sum = log_sum_exp(query + 1, scores.data());
      log_sums[h.row(query)] = static_cast<T>(log_sum);
      for (std::int64_t i = 0; i < shape.head_width; ++i) {
        double sum = 0;
        for (std::int64_t key = 0; key <= query; ++key) {
          sum +=
              std::exp(scores[static_cast<std::size_t>(key)] - log_sum) * qkv[h.packed(key, 2) + i];
        }
        y[h.result(query) + i] = static_cast<T>(sum);
      }
    }
  });
}

template <class T>
struct AttentionBackwardArrays {
  const T* qkv;       // (batch, positions, 3, heads, head_width)
  const T* y;         // (batch, positions, heads, head_width)
  const T* dy;        // as y
  const T* log_sums;  // (batch, heads, positions)
  double* dqkv;       // as qkv, zero before
};

// With p the probability of a pair, dp = dy . v: dv += p dy; and the gradient of the pair's score
// is the softmax's gradient p (dp - sum(p dp)), where sum(p dp) over the row is dy . y.
template <class T>
void attention_backward(const AttentionShape& shape, const AttentionBackwardArrays<T>& a) {
  for_each_head(shape, [&](const Head& h) {
    for (std::int64_t query = 0; query < shape.positions; ++query) {
      const T* const dy = a.dy + h.result(query);
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

}  // namespace tandem::naive_loops
