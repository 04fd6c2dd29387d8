// SPDX-License-Identifier: Apache-2.0
#include "bench/model_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>
#include <vector>

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

// "124 439 808"
std::string in_groups(std::int64_t number) {
  if (number < 1000) return std::to_string(number);
  return fmt::format("{} {:03}", in_groups(number / 1000), number % 1000);
}

}  // namespace

std::string model_table() {
  std::vector<std::string> of_images;
  std::string table =
      "| model | parameters | in fp32 | FLOP per sample | modules |\n|---|---|---|---|---|\n";
  for (const std::string& name : model_names()) {
    const auto model = make_model(name);
    const std::int64_t parameters = model->layout().parameter_count();
    table += fmt::format("| `{}` | {} | {} | {} | {} |\n", name, in_groups(parameters),
                         with_prefix(static_cast<double>(bytes_of<float>(parameters).value), "B"),
                         with_prefix(model->flops_per_sample(), "FLOP"), model->module_count());
    if (model->needs_images()) of_images.push_back(name);
  }
  const std::string lack = lack_of_images(Backend::kCuda);
  if (lack.empty()) return table;
  return table + fmt::format("\nUnavailable with --backend=cuda: {}: {}.\n",
                             fmt::join(of_images, ", "), lack);
}

}  // namespace tandem::bench
