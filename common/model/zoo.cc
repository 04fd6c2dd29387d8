// SPDX-License-Identifier: Apache-2.0
#include "common/model/zoo.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "common/base/error.h"
#include "common/base/known_names.h"
#include "common/base/units.h"
#include "common/model/gpt2.h"
#include "common/model/linear_stack.h"
#include "common/model/resnet.h"

namespace tandem {

namespace {

using Widths = std::vector<std::int64_t>;

struct NamedMlp {
  std::string_view name;
  Widths widths;
};

Widths uniform(std::int64_t layers, std::int64_t width) {
  return Widths(static_cast<std::size_t>(layers) + 1, width);
}

// Four models that differ in shape, and a family of one shape, four layers of W x W, in steps of
// about the square root of 10.
const std::vector<NamedMlp>& named_mlps() {
  static const std::vector<NamedMlp> models{
      {"mlp-tiny", {128, 256, 256, 10}},
      {"mlp-small", {512, 1024, 1024, 10}},
      {"mlp-base", {1000, 3000, 3000, 3000, 1000}},
      {"mlp-large", {10000, 5000, 5000, 5000, 10000}},
      {"mlp-0.1m", uniform(4, 160)},
      {"mlp-0.3m", uniform(4, 272)},
      {"mlp-1m", uniform(4, 496)},
      {"mlp-3m", uniform(4, 864)},
      {"mlp-10m", uniform(4, 1584)},
      {"mlp-30m", uniform(4, 2736)},
      {"mlp-100m", uniform(4, 4992)},
      {"mlp-300m", uniform(4, 8656)},
      {"mlp-1b", uniform(4, 15808)},
  };
  return models;
}

struct SmallModel {
  std::string_view name;
  std::unique_ptr<Model> (*make)();
};

constexpr std::array kSmallModels{
    SmallModel{"counter", []() -> std::unique_ptr<Model> { return std::make_unique<Counter>(); }},
    SmallModel{"custom", make_custom}, SmallModel{"linear", make_linear},
    SmallModel{"padded", make_padded}};

// A positive whole number that takes up all of `text`.
std::optional<std::int64_t> positive(std::string_view text) {
  const auto value = parse_number<std::int64_t>(text);
  return value && *value >= 1 ? value : std::nullopt;
}

// Parses "4x1024" as 4 layers of 1024 x 1024; nothing where the text has another form.
std::optional<Widths> parse_uniform(std::string_view text) {
  const std::size_t cross = text.find('x');
  if (cross == std::string_view::npos) return std::nullopt;
  const auto layers = positive(text.substr(0, cross));
  const auto width = positive(text.substr(cross + 1));
  if (!layers || !width || *layers > 10'000 || *width > 1'000'000) return std::nullopt;
  return uniform(*layers, *width);
}

}  // namespace

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const SmallModel& model : kSmallModels) names.emplace_back(model.name);
  for (const NamedMlp& mlp : named_mlps()) names.emplace_back(mlp.name);
  for (const std::string& name : gpt2_names()) names.push_back(name);
  for (const std::string& name : resnet_names()) names.push_back(name);
  return names;
}

std::unique_ptr<Model> make_model(const std::string& name) {
  const auto mlp = std::ranges::find(named_mlps(), name, &NamedMlp::name);
  if (mlp != named_mlps().end()) return std::make_unique<Mlp>(name, mlp->widths);
  const auto small = std::ranges::find(kSmallModels, name, &SmallModel::name);
  if (small != kSmallModels.end()) return small->make();
  if (name.starts_with("mlp:")) {
    if (const auto widths = parse_uniform(std::string_view(name).substr(4))) {
      return std::make_unique<Mlp>(name, *widths);
    }
  }
  if (auto gpt2 = make_gpt2(name)) return gpt2;
  if (auto resnet = make_resnet(name)) return resnet;
  if (name.find(".json") != std::string::npos) {
    fail(ErrorKind::kUsage,
         "'{}' is a workload file, which step_bench, sweeps and tandem explain accept: name a "
         "built-in model here",
         name);
  }
  const std::vector<std::string> names = model_names();
  const std::vector<std::string_view> known(names.begin(), names.end());
  fail(ErrorKind::kUsage,
       "unknown model '{}'{}: use one of {}, mlp:LxW such as mlp:4x1024, or one of GPT-2 with a "
       "sequence length, such as gpt2-124m:64",
       name, did_you_mean(name, known), fmt::join(names, ", "));
}

std::unique_ptr<Model> make_linear() {
  return std::make_unique<LinearStack>(LinearStackOptions{
      .name = "linear",
      .layers = {{.weight = "weight", .bias = "bias", .in = 10, .out = 5}},
  });
}

std::unique_ptr<Model> make_padded() {
  return std::make_unique<LinearStack>(LinearStackOptions{
      .name = "padded",
      .layers = {{.weight = "weight", .bias = "bias", .in = 10, .out = 20}},
      .positions = 40,
  });
}

std::unique_ptr<Model> make_custom() {
  return std::make_unique<LinearStack>(LinearStackOptions{
      .name = "custom",
      .layers = {{.weight = "weight", .bias = "", .in = 100, .out = 50},
                 {.weight = "fc.weight", .bias = "fc.bias", .in = 50, .out = 50}},
      .modules = 2,
  });
}

Counter::Counter()
    : LinearStack({.name = "counter",
                   .layers = {{.weight = "fc.weight", .bias = "fc.bias", .in = 10, .out = 5}},
                   .modules = 2}) {
  buffers_.add("count", {1});
}

void Counter::forward(Executor on, const ConstTensorList& parameters, ModuleState& state,
                      Span<const float> input, Activations& activations) const {
  charge(on, 1, DispatchKind::kOperation);
  on.enqueue(AddScalar{.tensors = {state.buffers.front()}, .constant = 1});
  state.attributes["calls"] += 1;
  LinearStack::forward(on, parameters, state, input, activations);
}

}  // namespace tandem
