// SPDX-License-Identifier: Apache-2.0
#include "bench/step/model_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>
#include <vector>

#include "bench/step/step_work.h"
#include "bench/step/workload_source.h"
#include "common/model/replay.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace {

// The value with four digits and the largest prefix that leaves at least 1 of the unit: "497.8 MB".
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

// "124 439 808"
std::string in_groups(std::int64_t number) {
  if (number < 1000) return std::to_string(number);
  return fmt::format("{} {:03}", in_groups(number / 1000), number % 1000);
}

std::string size_cells(const std::string& name, const Model& model) {
  const std::int64_t parameters = model.layout().parameter_count();
  return fmt::format("| `{}` | {} | {} | {} | {} |", name, in_groups(parameters),
                     in_bytes(bytes_of<float>(parameters)),
                     with_prefix(model.flops_per_sample(), "FLOP"), model.module_count());
}

// The table's cells for the work of one step with `batch` samples.
std::string work_cells(const Model& model, std::int64_t batch) {
  const StepWork sgd = count_step(model, batch, Precision::kFp32, {.kind = OptimizerKind::kSgd});
  const StepWork adam = count_step(model, batch, Precision::kFp32, {.kind = OptimizerKind::kAdam});
  return fmt::format(" {} + {} + {} + {} | {} | {} |\n", sgd.forward, sgd.loss, sgd.backward,
                     sgd.update, in_bytes(sgd.optimizer_bytes), in_bytes(adam.optimizer_bytes));
}

std::string own_row(const std::string& name, const Workload& workload) {
  const Replay replay(workload);
  return size_cells(name, replay) + work_cells(replay, 1);
}

}  // namespace

std::string model_table(const std::string& own) {
  std::vector<std::string> of_images;
  std::string table =
      "| model | parameters | in fp32 | FLOP per sample | modules | operations | sgd moves | adam, "
      "adamw move |\n|---|---|---|---|---|---|---|---|\n";
  if (const auto workload = read_workload(own)) table += own_row(own, *workload);
  for (const std::string& name : model_names()) {
    const auto model = make_model(name);
    table += size_cells(name, *model) + work_cells(*model, 1);
    if (model->needs_images()) of_images.push_back(name);
  }
  const std::string lack = lack_of_images(Backend::kCuda);
  if (lack.empty()) return table;
  return table + fmt::format("\nUnavailable with --backend=cuda: {}: {}.\n",
                             fmt::join(of_images, ", "), lack);
}

std::string size_in_json(const Model& model) {
  return fmt::format(R"({{"flops_per_sample":{},"parameters":{}}})", model.flops_per_sample(),
                     model.layout().parameter_count());
}

}  // namespace tandem::bench
