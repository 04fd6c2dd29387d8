// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/kernels/operands.h"

namespace tandem {

// loss = mean over all elements of (prediction - target)^2, gradient = 2 (prediction - target) / n.
// An empty gradient asks for the loss alone.
struct MseLoss {
  Span<const float> prediction;
  Span<const float> target;
  Span<float> gradient{};
  Span<float> loss{};  // one element

  [[nodiscard]] std::vector<Access> accesses() const {
    const std::int64_t all = prediction.size();
    TANDEM_CHECK(all > 0, "the mean of {} elements", all);
    return checked({{"prediction", prediction, all},
                    {"target", target, all},
                    {"gradient", gradient, unless_empty(gradient, all)},
                    {"loss", loss, 1}});
  }
};

// gradient = 2 (prediction - target) / n * loss_gradient, where loss_gradient is the gradient of a
// sum of losses with respect to this loss.
struct MseLossBackward {
  Span<const float> prediction;
  Span<const float> target;
  Span<const float> loss_gradient;  // one element
  Span<float> gradient;

  [[nodiscard]] std::vector<Access> accesses() const {
    const std::int64_t all = prediction.size();
    TANDEM_CHECK(all > 0, "the mean of {} elements", all);
    return checked({{"prediction", prediction, all},
                    {"target", target, all},
                    {"loss_gradient", loss_gradient, 1},
                    {"gradient", gradient, all}});
  }
};

// Checks the classes and rows of cross-entropy, a mean over the rows' losses.
void check_rows(std::int64_t classes, Span<const float> target);

// Softmax, logarithm, choice of the target's class and mean in one pass, with the gradient:
// loss = mean over rows of log(sum(exp(prediction[r]))) - prediction[r][target[r]],
// gradient = (softmax(prediction[r]) - onehot(target[r])) / rows. Targets are whole numbers in
// [0, classes), held as fp32. An empty gradient asks for the loss alone.
struct CrossEntropyLoss {
  std::int64_t classes = 0;
  Span<const float> prediction;  // (rows, classes)
  Span<const float> target;      // (rows)
  Span<float> gradient{};        // (rows, classes), may be prediction
  Span<float> loss{};            // one element

  [[nodiscard]] std::vector<Access> accesses() const {
    check_rows(classes, target);
    const std::int64_t rows = target.size();
    return checked({{"prediction", prediction, rows * classes},
                    {"target", target, rows},
                    {"gradient", gradient, unless_empty(gradient, rows * classes)},
                    {"loss", loss, 1}});
  }
};

// The gradient of CrossEntropyLoss, times loss_gradient.
struct CrossEntropyLossBackward {
  std::int64_t classes = 0;
  Span<const float> prediction;     // (rows, classes)
  Span<const float> target;         // (rows)
  Span<const float> loss_gradient;  // one element
  Span<float> gradient;             // (rows, classes), may be prediction

  [[nodiscard]] std::vector<Access> accesses() const {
    check_rows(classes, target);
    const std::int64_t rows = target.size();
    return checked({{"prediction", prediction, rows * classes},
                    {"target", target, rows},
                    {"loss_gradient", loss_gradient, 1},
                    {"gradient", gradient, rows * classes}});
  }
};

namespace host {

void run(const MseLoss& op);
void run(const MseLossBackward& op);
void run(const CrossEntropyLoss& op);
void run(const CrossEntropyLossBackward& op);

}  // namespace host

}  // namespace tandem
