// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/kernels/operands.h"

namespace tandem {

// Losses compute in fp32 and double, whatever the type of the prediction. The gradient has that
// type, too, and is rounded to it once.

// loss = mean over all elements of (prediction - target)^2, gradient = 2 (prediction - target) / n.
// An empty gradient asks for the loss alone.
struct MseLoss {
  ConstAnySpan prediction;
  Span<const float> target;
  AnySpan gradient{};
  Span<float> loss{};  // one element

  [[nodiscard]] std::vector<Access> accesses() const {
    const std::int64_t all = prediction.size();
    TANDEM_CHECK(all > 0, "the mean of {} elements", all);
    return checked({{"prediction", prediction, all},
                    {"target", target, all},
                    {"gradient", gradient, unless_empty(gradient, all)},
                    {"loss", loss, 1}},
                   prediction.dtype());
  }
};

// gradient = 2 (prediction - target) / n * loss_gradient, where loss_gradient is the gradient of a
// sum of losses with respect to this loss.
struct MseLossBackward {
  ConstAnySpan prediction;
  Span<const float> target;
  Span<const float> loss_gradient;  // one element
  AnySpan gradient;

  [[nodiscard]] std::vector<Access> accesses() const {
    const std::int64_t all = prediction.size();
    TANDEM_CHECK(all > 0, "the mean of {} elements", all);
    return checked({{"prediction", prediction, all},
                    {"target", target, all},
                    {"loss_gradient", loss_gradient, 1},
                    {"gradient", gradient, all}},
                   prediction.dtype());
  }
};

// Checks the classes and rows of cross-entropy, a mean over the rows' losses.
void check_rows(std::int64_t classes, std::int64_t padding, Span<const float> target);

// Softmax, logarithm, choice of the target's class and mean in one pass, with the gradient:
// loss = mean over rows of log(sum(exp(prediction[r]))) - prediction[r][target[r]],
// gradient = (softmax(prediction[r]) - onehot(target[r])) / rows. Targets are whole numbers in
// [0, classes), held as fp32. An empty gradient asks for the loss alone.
struct CrossEntropyLoss {
  std::int64_t classes = 0;
  ConstAnySpan prediction;   // (rows, classes + padding)
  Span<const float> target;  // (rows)
  AnySpan gradient{};        // (rows, classes + padding), may be prediction
  Span<float> loss{};        // one element
  std::int64_t padding = 0;  // behind each row: of the prediction not read, of the gradient zeros

  [[nodiscard]] std::vector<Access> accesses() const {
    check_rows(classes, padding, target);
    const std::int64_t rows = target.size();
    const std::int64_t all = rows * (classes + padding);
    return checked({{"prediction", prediction, all},
                    {"target", target, rows},
                    {"gradient", gradient, unless_empty(gradient, all)},
                    {"loss", loss, 1}},
                   prediction.dtype());
  }
};

// The gradient of CrossEntropyLoss, times loss_gradient.
struct CrossEntropyLossBackward {
  std::int64_t classes = 0;
  ConstAnySpan prediction;          // (rows, classes + padding)
  Span<const float> target;         // (rows)
  Span<const float> loss_gradient;  // one element
  AnySpan gradient;                 // (rows, classes + padding), may be prediction
  std::int64_t padding = 0;         // behind each row, as CrossEntropyLoss's

  [[nodiscard]] std::vector<Access> accesses() const {
    check_rows(classes, padding, target);
    const std::int64_t rows = target.size();
    const std::int64_t all = rows * (classes + padding);
    return checked({{"prediction", prediction, all},
                    {"target", target, rows},
                    {"loss_gradient", loss_gradient, 1},
                    {"gradient", gradient, all}},
                   prediction.dtype());
  }
};

namespace host {

void run(const MseLoss& op);
void run(const MseLossBackward& op);

// The scratch memory holds a row in fp32 where the operands are of another type.
[[nodiscard]] Bytes scratch_size(const CrossEntropyLoss& op);
void run(const CrossEntropyLoss& op, std::byte* scratch);
[[nodiscard]] Bytes scratch_size(const CrossEntropyLossBackward& op);
void run(const CrossEntropyLossBackward& op, std::byte* scratch);

}  // namespace host

}  // namespace tandem
