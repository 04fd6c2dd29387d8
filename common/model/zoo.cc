// SPDX-License-Identifier: Apache-2.0
#include "common/model/zoo.h"

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/base/numbers.h"
#include "common/model/counter.h"
#include "common/model/mlp.h"
#include "common/model/small_models.h"

namespace tandem {
namespace {

using Widths = std::vector<std::int64_t>;

const std::map<std::string, Widths, std::less<>>& named_mlps() {
  static const std::map<std::string, Widths, std::less<>> models{
      {"mlp-tiny", {128, 256, 256, 10}},                // 0.1 M parameters
      {"mlp-small", {512, 1024, 1024, 10}},             // 1.6 M
      {"mlp-base", {1000, 3000, 3000, 3000, 1000}},     // 24 M
      {"mlp-large", {10000, 5000, 5000, 5000, 10000}},  // 150 M
  };
  return models;
}

using Maker = std::unique_ptr<Model> (*)();

const std::map<std::string, Maker, std::less<>>& small_models() {
  static const std::map<std::string, Maker, std::less<>> models{
      {"counter", []() -> std::unique_ptr<Model> { return std::make_unique<Counter>(); }},
      {"custom", make_custom},
      {"linear", make_linear},
      {"padded", make_padded},
  };
  return models;
}

// A positive whole number that takes up all of `text`.
std::optional<std::int64_t> positive(std::string_view text) {
  const auto value = parse_number<std::int64_t>(text);
  return value && *value >= 1 ? value : std::nullopt;
}

// "4x1024" -> 4 layers of 1024 x 1024; nothing where the text is not that.
std::optional<Widths> parse_uniform(std::string_view text) {
  const std::size_t cross = text.find('x');
  if (cross == std::string_view::npos) return std::nullopt;
  const auto layers = positive(text.substr(0, cross));
  const auto width = positive(text.substr(cross + 1));
  if (!layers || !width || *layers > 10'000 || *width > 1'000'000) return std::nullopt;
  return Widths(static_cast<std::size_t>(*layers) + 1, *width);
}

}  // namespace

std::unique_ptr<Model> make_model(const std::string& name) {
  if (const auto found = named_mlps().find(name); found != named_mlps().end()) {
    return std::make_unique<Mlp>(name, found->second);
  }
  if (const auto found = small_models().find(name); found != small_models().end()) {
    return found->second();
  }
  if (name.starts_with("mlp:")) {
    if (auto widths = parse_uniform(std::string_view(name).substr(4))) {
      return std::make_unique<Mlp>(name, *std::move(widths));
    }
  }
  std::string known;
  for (const auto& [model, maker] : small_models()) known += model + ", ";
  for (const auto& [model, widths] : named_mlps()) known += model + ", ";
  fail(ErrorKind::kUsage, "unknown model '{}': use one of {}or mlp:LxW such as mlp:4x1024", name,
       known);
}

}  // namespace tandem
