// SPDX-License-Identifier: Apache-2.0
#include "bench/step/model_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <string_view>
#include <vector>

#include "bench/step/workload_source.h"
#include "common/base/lines.h"
#include "common/base/text.h"
#include "common/command_line/help.h"
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

// "124 439 808"
std::string in_groups(std::int64_t number) {
  if (number < 1000) return std::to_string(number);
  return fmt::format("{} {:03}", in_groups(number / 1000), number % 1000);
}

command_line::HelpLine line_of(const std::string& name, const Model& model) {
  const std::int64_t parameters = model.layout().parameter_count();
  const auto bytes = static_cast<double>(bytes_of<float>(parameters).value);
  return {name, fmt::format("{} parameters, {} in fp32, {} per sample, {}", in_groups(parameters),
                            with_prefix(bytes, "B"), with_prefix(model.flops_per_sample(), "FLOP"),
                            count_text(model.module_count(), "module"))};
}

}  // namespace

std::string model_list(const std::string& own) {
  std::vector<std::string> of_images;
  std::vector<command_line::HelpLine> lines;
  if (const auto workload = read_workload(own)) lines.push_back(line_of(own, Replay(*workload)));
  for (const std::string& name : model_names()) {
    const auto model = make_model(name);
    lines.push_back(line_of(name, *model));
    if (model->needs_images()) of_images.push_back(name);
  }
  const std::string list = command_line::two_columns(lines);
  const std::string lack = lack_of_images(Backend::kCuda);
  if (lack.empty()) return list;
  return list + to_lines(fmt::format("Unavailable with --backend=cuda: {}: {}.",
                                     fmt::join(of_images, ", "), lack),
                         columns_of(STDOUT_FILENO));
}

std::string size_in_json(const Model& model) {
  return fmt::format(R"({{"flops_per_sample":{},"parameters":{}}})", model.flops_per_sample(),
                     model.layout().parameter_count());
}

}  // namespace tandem::bench
