// SPDX-License-Identifier: Apache-2.0
#include "reports/model/modelled.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "reports/format.h"
#include "reports/model/implementation.h"

namespace tandem::reports {
namespace {

constexpr const char* kUsualPrecision = "fp32";

// The option's value; empty where the option has its default. "off" is the default of all switches
// read here.
std::string value_of(const results::Cell& cell, std::string_view option) {
  const auto found = cell.options.find(std::string(option));
  return found == cell.options.end() || found->second == "off" ? "" : found->second;
}

}  // namespace

std::string modelled_parts(const results::LaunchRecord& record) {
  std::vector<std::string> parts;
  for (const char* option : {"link", "dispatch-cost", "interpreter-lock"}) {
    const std::string value = value_of(record.cell, option);
    if (value.empty()) continue;
    std::string name = option;
    std::replace(name.begin(), name.end(), '-', ' ');
    parts.push_back(value == "on" ? name : name + " " + value);
    // A preset link stretches time, so the cell's figures are not those of any machine.
    if (value.find('@') != std::string::npos) parts.emplace_back("scaled");
  }
  return join(parts.empty() ? record.modelled : parts, ", ");
}

std::string precision_of(const results::Cell& cell) {
  const auto found = cell.options.find("precision");
  return found == cell.options.end() ? kUsualPrecision : found->second;
}

std::string precision_suffix(const results::Cell& cell) {
  const std::string precision = precision_of(cell);
  return precision == kUsualPrecision ? "" : ", " + precision;
}

bool is_replayed(const results::Cell& cell) { return !value_of(cell, "cuda-graph").empty(); }

bool updates_alike(const results::Cell& a, const results::Cell& b) {
  return value_of(a, "optimizer") == value_of(b, "optimizer");
}

bool is_plain(const results::Cell& cell) {
  return cell.options.size() == cell.options.count("precision");
}

bool same_question(const results::Cell& a, const results::Cell& b) {
  constexpr std::array<std::string_view, 8> kQuestions{
      "input",         "optimizer",        "seed",         "link", "plant",
      "dispatch-cost", "interpreter-lock", kImplementation};
  if (precision_of(a) != precision_of(b) || is_replayed(a) != is_replayed(b)) return false;
  return std::all_of(kQuestions.begin(), kQuestions.end(), [&](std::string_view option) {
    return value_of(a, option) == value_of(b, option);
  });
}

}  // namespace tandem::reports
