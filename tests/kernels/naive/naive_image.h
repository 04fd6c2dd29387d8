// SPDX-License-Identifier: Apache-2.0
//
// The formulas behind naive() of the operations on images; naive_loops.h has those of other
// operations. Everything between operands is in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/kernels/activation.h"
#include "common/kernels/convolution.h"

namespace tandem::naive_loops {

// Calls visit(x, weight, y) with the indices of each product of a convolution, in order of y, then
// of the weight.
template <class Visit>
void for_each_product(const ConvolutionShape& s, Visit visit) {
  std::int64_t y = 0;
  for (std::int64_t at = 0; at < s.batch * s.out_height() * s.out_width(); ++at) {
    const std::int64_t sample = at / (s.out_height() * s.out_width());
    const std::int64_t top = at / s.out_width() % s.out_height() * s.stride - s.padding;
    const std::int64_t left = at % s.out_width() * s.stride - s.padding;
    for (std::int64_t o = 0; o < s.out; ++o, ++y) {
      for (std::int64_t tap = 0; tap < s.kernel * s.kernel; ++tap) {
        const std::int64_t row = top + tap / s.kernel;
        const std::int64_t column = left + tap % s.kernel;
        if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
        const std::int64_t x = ((sample * s.height + row) * s.width + column) * s.in;
        const std::int64_t weight = (o * s.kernel * s.kernel + tap) * s.in;
        for (std::int64_t i = 0; i < s.in; ++i) visit(x + i, weight + i, y);
      }
    }
  }
}

inline void round_to(const std::vector<double>& from, float* to) {
  std::transform(from.begin(), from.end(), to, [](double v) { return static_cast<float>(v); });
}

inline void convolution_forward(const ConvolutionShape& s, const float* x, const float* weight,
                                float* y) {
  std::vector<double> sums(static_cast<std::size_t>(s.output_count()));
  for_each_product(s, [&](std::int64_t from, std::int64_t by, std::int64_t to) {
    sums[static_cast<std::size_t>(to)] += double{x[from]} * weight[by];
  });
  round_to(sums, y);
}

inline void convolution_backward_input(const ConvolutionShape& s, const float* dy,
                                       const float* weight, float* dx) {
  std::vector<double> sums(static_cast<std::size_t>(s.input_count()));
  for_each_product(s, [&](std::int64_t to, std::int64_t by, std::int64_t from) {
    sums[static_cast<std::size_t>(to)] += double{dy[from]} * weight[by];
  });
  round_to(sums, dx);
}

inline void convolution_backward_weight(const ConvolutionShape& s, const float* x, const float* dy,
                                        float* dweight) {
  std::vector<double> sums(static_cast<std::size_t>(s.weight_count()));
  for_each_product(s, [&](std::int64_t by, std::int64_t to, std::int64_t from) {
    sums[static_cast<std::size_t>(to)] += double{dy[from]} * x[by];
  });
  round_to(sums, dweight);
}

struct BatchNormForwardArrays {
  const float* x;         // (rows, channels)
  const float* residual;  // (rows, channels), or none
  const float* gain;      // (channels), as all below but y
  const float* bias;
  float* y;  // (rows, channels)
  float* running_mean;
  float* running_variance;
  float* mean;
  float* rstd;
};

// The settings of batch normalisation beside its operands.
struct BatchNormSettings {
  Activation activation = Activation::kNone;
  double epsilon = 1e-5;
  double momentum = 0.1;
};

inline void batch_norm_forward(const BatchNormShape& s, const BatchNormForwardArrays& a,
                               const BatchNormSettings& settings) {
  const auto rows = static_cast<double>(s.rows);
  const auto advance = [&](float& running, double value) {
    running = static_cast<float>((1 - settings.momentum) * running + settings.momentum * value);
  };
  for (std::int64_t c = 0; c < s.channels; ++c) {
    double sum = 0;
    for (std::int64_t at = c; at < s.rows * s.channels; at += s.channels) sum += a.x[at];
    const double mean = sum / rows;
    double squares = 0;
    for (std::int64_t at = c; at < s.rows * s.channels; at += s.channels) {
      squares += (a.x[at] - mean) * (a.x[at] - mean);
    }
    const double rstd = 1 / std::sqrt(squares / rows + settings.epsilon);
    for (std::int64_t at = c; at < s.rows * s.channels; at += s.channels) {
      double value = (a.x[at] - mean) * rstd * a.gain[c] + a.bias[c];
      if (a.residual) value += a.residual[at];
      const bool off = settings.activation == Activation::kRelu && value <= 0;
      a.y[at] = off ? 0.0F : static_cast<float>(value);
    }
    a.mean[c] = static_cast<float>(mean);
    a.rstd[c] = static_cast<float>(rstd);
    advance(a.running_mean[c], mean);
    advance(a.running_variance[c], squares / (rows - 1));
  }
}

struct BatchNormBackwardArrays {
  const float* x;     // (rows, channels)
  const float* g;     // (rows, channels): the residual's gradient
  const float* gain;  // (channels), as all below but dx
  const float* mean;
  const float* rstd;
  float* dx;  // (rows, channels), may be g
  float* dgain;
  float* dbias;
};

inline void batch_norm_backward(const BatchNormShape& s, const BatchNormBackwardArrays& a) {
  const auto rows = static_cast<double>(s.rows);
  for (std::int64_t c = 0; c < s.channels; ++c) {
    const auto normal = [&](std::int64_t at) {
      return (double{a.x[at]} - double{a.mean[c]}) * double{a.rstd[c]};
    };
    double plain = 0;
    double sloped = 0;
    for (std::int64_t at = c; at < s.rows * s.channels; at += s.channels) {
      plain += a.g[at];
      sloped += a.g[at] * normal(at);
    }
    for (std::int64_t at = c; at < s.rows * s.channels; at += s.channels) {
      const double centred = a.g[at] - plain / rows - normal(at) * sloped / rows;
      a.dx[at] = static_cast<float>(double{a.gain[c]} * a.rstd[c] * centred);
    }
    a.dgain[c] = static_cast<float>(sloped);
    a.dbias[c] = static_cast<float>(plain);
  }
}

// Calls visit(x, y) with the indices of each pair of an output and an element of its window, in
// order of the outputs, then of the elements.
template <class Visit>
void for_each_in_window(const MaxPoolShape& s, Visit visit) {
  for (std::int64_t y = 0; y < s.output_count(); ++y) {
    const std::int64_t at = y / s.channels;
    const std::int64_t sample = at / (s.out_height() * s.out_width());
    const std::int64_t top = at / s.out_width() % s.out_height() * s.kStride - s.kPadding;
    const std::int64_t left = at % s.out_width() * s.kStride - s.kPadding;
    for (std::int64_t tap = 0; tap < s.kKernel * s.kKernel; ++tap) {
      const std::int64_t row = top + tap / s.kKernel;
      const std::int64_t column = left + tap % s.kKernel;
      if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
      visit(((sample * s.height + row) * s.width + column) * s.channels + y % s.channels, y);
    }
  }
}

inline void max_pool_forward(const MaxPoolShape& s, const float* x, float* y) {
  std::fill(y, y + s.output_count(), -std::numeric_limits<float>::infinity());
  for_each_in_window(s, [&](std::int64_t from, std::int64_t to) {
    if (x[from] > y[to] || std::isnan(x[from])) y[to] = x[from];
  });
}

// `dy` is the whole gradient of y.
inline void max_pool_backward(const MaxPoolShape& s, const float* x, const float* y,
                              const float* dy, float* dx) {
  std::vector<double> sums(static_cast<std::size_t>(s.input_count()));
  std::vector<bool> found(static_cast<std::size_t>(s.output_count()));
  for_each_in_window(s, [&](std::int64_t to, std::int64_t from) {
    const auto window = static_cast<std::size_t>(from);
    if (found[window] || x[to] != y[from]) return;
    found[window] = true;
    sums[static_cast<std::size_t>(to)] += dy[from];
  });
  round_to(sums, dx);
}

inline void average_pool_forward(const AveragePoolShape& s, const float* x, float* y) {
  for (std::int64_t at = 0; at < s.batch * s.channels; ++at) {
    double sum = 0;
    const float* const sample = x + at / s.channels * s.positions * s.channels;
    for (std::int64_t p = 0; p < s.positions; ++p) sum += sample[p * s.channels + at % s.channels];
    y[at] = static_cast<float>(sum / static_cast<double>(s.positions));
  }
}

inline void average_pool_backward(const AveragePoolShape& s, const float* dy, float* dx) {
  for (std::int64_t at = 0; at < s.batch * s.positions * s.channels; ++at) {
    const std::int64_t sample = at / (s.positions * s.channels);
    dx[at] = dy[sample * s.channels + at % s.channels] / static_cast<float>(s.positions);
  }
}

}  // namespace tandem::naive_loops
