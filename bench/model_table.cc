// SPDX-License-Identifier: Apache-2.0
#include "bench/model_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>
#include <vector>

#include "bench/step_work.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace {

// Four digits and the largest prefix that leaves at least 1 of the unit: "497.8 MB".
std::string with_prefix(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 5> kPrefixes{"", "k", "M", "G", "T"};
  std::size_t prefix = 0;
  while (value >= 1000 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  return fmt::format("{:.4g} {}{}", value, kPrefixes[prefix], unit);
}

std::string in_bytes(Bytes size) { return with_prefix(static_cast<double>(size.value), "B"); }

StepWork work_of(const Model& model, OptimizerKind optimizer) {
  return count_step(model, 1, Precision::kFp32, {.kind = optimizer});
}

// "124 439 808"
std::string in_groups(std::int64_t number) {
  if (number < 1000) return std::to_string(number);
  return fmt::format("{} {:03}", in_groups(number / 1000), number % 1000);
}

}  // namespace

std::string model_table() {
  std::vector<std::string> of_images;
  std::string table =
      "| model | parameters | in fp32 | FLOP per sample | modules | operations | sgd moves | adam, "
      "adamw move |\n|---|---|---|---|---|---|---|---|\n";
  for (const std::string& name : model_names()) {
    const auto model = make_model(name);
    const std::int64_t parameters = model->layout().parameter_count();
    const StepWork with_sgd = work_of(*model, OptimizerKind::kSgd);
    const StepWork with_adam = work_of(*model, OptimizerKind::kAdam);
    table += fmt::format("| `{}` | {} | {} | {} | {} | {} + {} + {} + {} | {} | {} |\n", name,
                         in_groups(parameters), in_bytes(bytes_of<float>(parameters)),
                         with_prefix(model->flops_per_sample(), "FLOP"), model->module_count(),
                         with_sgd.forward, with_sgd.loss, with_sgd.backward, with_sgd.update,
                         in_bytes(with_sgd.optimizer_bytes), in_bytes(with_adam.optimizer_bytes));
    if (model->needs_images()) of_images.push_back(name);
  }
  const std::string lack = lack_of_images(Backend::kCuda);
  if (lack.empty()) return table;
  return table + fmt::format("\nUnavailable with --backend=cuda: {}: {}.\n",
                             fmt::join(of_images, ", "), lack);
}

}  // namespace tandem::bench
