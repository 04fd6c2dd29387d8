// SPDX-License-Identifier: Apache-2.0
//
// GPT-2's loss in plain loops and doubles, sharing no code with the model: from its shapes, its
// parameters in the order of registration, ids and the tokens that follow them.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "common/model/gpt2_activations.h"

namespace tandem::test {

class PlainGpt2 {
 public:
  using Values = std::vector<double>;

  PlainGpt2(const Gpt2Shape& shape, std::vector<Values> values)
      : parameters(std::move(values)), shape_(shape) {}

  // The mean over all tokens of all samples.
  [[nodiscard]] double loss(const std::vector<float>& ids, const std::vector<float>& next) const {
    const auto tokens = static_cast<std::size_t>(shape_.sequence);
    double sum = 0;
    for (std::size_t first = 0; first < ids.size(); first += tokens) {
      const std::vector<Values> logits = sample(ids, first);
      for (std::size_t t = 0; t < tokens; ++t) {
        sum += surprise(logits[t], static_cast<std::size_t>(next[first + t]));
      }
    }
    return sum / static_cast<double>(ids.size());
  }

  std::vector<Values> parameters;

 private:
  using Rows = std::vector<Values>;

  static double surprise(const Values& logits, std::size_t chosen) {
    const double top = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const double logit : logits) sum += std::exp(logit - top);
    return std::log(sum) + top - logits[chosen];
  }

  [[nodiscard]] Rows sample(const std::vector<float>& ids, std::size_t first) const {
    const auto width = static_cast<std::size_t>(shape_.width);
    Rows stream;
    for (std::size_t t = 0; t < static_cast<std::size_t>(shape_.sequence); ++t) {
      Values row(width);
      for (std::size_t i = 0; i < width; ++i) {
        row[i] = parameters[0][static_cast<std::size_t>(ids[first + t]) * width + i] +
                 parameters[1][t * width + i];
      }
      stream.push_back(row);
    }
    std::size_t next = 2;
    for (std::int64_t block = 0; block < shape_.layers; ++block, next += 12) apply(next, stream);
    Rows logits;
    for (const Values& row : stream) logits.push_back(product(norm(row, next), 0, false));
    return logits;
  }

  // A block whose first parameter is `p`: both branches, added to the stream.
  void apply(std::size_t p, Rows& stream) const {
    Rows qkv;
    for (const Values& row : stream) qkv.push_back(product(norm(row, p), p + 2, true));
    for (std::size_t t = 0; t < stream.size(); ++t) {
      add(stream[t], product(attended(qkv, t), p + 4, true));
    }
    for (Values& row : stream) {
      Values hidden = product(norm(row, p + 6), p + 8, true);
      for (double& value : hidden) value = gelu(value);
      add(row, product(hidden, p + 10, true));
    }
  }

  // By the weight that is parameter `p`, (out, in), with the bias behind it.
  [[nodiscard]] Values product(const Values& x, std::size_t p, bool has_bias) const {
    const Values& weight = parameters[p];
    Values y(weight.size() / x.size());
    for (std::size_t o = 0; o < y.size(); ++o) {
      y[o] = has_bias ? parameters[p + 1][o] : 0;
      for (std::size_t i = 0; i < x.size(); ++i) y[o] += weight[o * x.size() + i] * x[i];
    }
    return y;
  }

  [[nodiscard]] Values norm(const Values& x, std::size_t p) const {
    const auto count = static_cast<double>(x.size());
    double mean = 0;
    for (const double value : x) mean += value / count;
    double variance = 0;
    for (const double value : x) variance += (value - mean) * (value - mean) / count;
    Values y;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double normal = (x[i] - mean) / std::sqrt(variance + 1e-5);
      y.push_back(normal * parameters[p][i] + parameters[p + 1][i]);
    }
    return y;
  }

  // What token t sees of itself and those before it.
  [[nodiscard]] Values attended(const Rows& qkv, std::size_t t) const {
    const auto width = static_cast<std::size_t>(shape_.width);
    const std::size_t head_width = width / static_cast<std::size_t>(shape_.heads);
    Values y(width);
    for (std::size_t head = 0; head < width; head += head_width) {
      Values weights;
      for (std::size_t s = 0; s <= t; ++s) {
        double score = 0;
        for (std::size_t i = head; i < head + head_width; ++i) {
          score += qkv[t][i] * qkv[s][width + i];
        }
        weights.push_back(std::exp(score / std::sqrt(static_cast<double>(head_width))));
      }
      double sum = 0;
      for (const double weight : weights) sum += weight;
      for (std::size_t s = 0; s <= t; ++s) {
        for (std::size_t i = head; i < head + head_width; ++i) {
          y[i] += weights[s] / sum * qkv[s][2 * width + i];
        }
      }
    }
    return y;
  }

  static double gelu(double x) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
  }

  static void add(Values& to, const Values& what) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += what[i];
  }

  const Gpt2Shape shape_;
};

}  // namespace tandem::test
