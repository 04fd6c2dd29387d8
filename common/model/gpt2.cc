// SPDX-License-Identifier: Apache-2.0
#include "common/model/gpt2.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "common/base/units.h"
#include "common/model/gpt2_passes.h"

namespace tandem {

namespace {

using gpt2::Layer;

void add_norm(ParameterLayout& layout, const std::string& name, std::int64_t width) {
  layout.add(name + ".weight", {width});
  layout.add(name + ".bias", {width});
}

void add_linear(ParameterLayout& layout, const std::string& name, const LinearShape& shape) {
  layout.add(name + ".weight", {shape.out, shape.in});
  layout.add(name + ".bias", {shape.out});
}

void add_block(ParameterLayout& layout, const std::string& name, const Gpt2Shape& shape) {
  const auto of = [&](Layer layer) { return gpt2::linear_shape(shape, 1, layer); };
  add_norm(layout, name + ".ln_1", shape.width);
  add_linear(layout, name + ".attn.c_attn", of(Layer::kAttentionIn));
  add_linear(layout, name + ".attn.c_proj", of(Layer::kAttentionOut));
  add_norm(layout, name + ".ln_2", shape.width);
  add_linear(layout, name + ".mlp.c_fc", of(Layer::kMlpIn));
  add_linear(layout, name + ".mlp.c_proj", of(Layer::kMlpOut));
}

ParameterLayout layout_of(const Gpt2Shape& shape) {
  ParameterLayout layout;
  layout.add("transformer.wte.weight", {shape.vocabulary, shape.width});
  layout.add("transformer.wpe.weight", {shape.positions, shape.width});
  for (std::int64_t block = 0; block < shape.layers; ++block) {
    add_block(layout, fmt::format("transformer.h.{}", block), shape);
  }
  add_norm(layout, "transformer.ln_f", shape.width);
  return layout;
}

// The scale at which a distribution has this standard deviation: the deviation of [-1, 1) is
// 1/sqrt(3), that of -1, 0 and 1 is sqrt(2/3). Roots and quotients are exactly rounded everywhere.
float scale_for(float deviation, Distribution distribution) {
  return deviation * std::sqrt(distribution == Distribution::kUniform ? 3.0F : 1.5F);
}

}  // namespace

Gpt2::Gpt2(std::string name, const Gpt2Shape& shape)
    : name_(std::move(name)), shape_(shape), layout_(layout_of(shape)) {
  TANDEM_CHECK(shape.layers > 0 && shape.heads > 0 && shape.width > 0 &&
                   shape.width % shape.heads == 0 && shape.vocabulary > 0,
               "a GPT-2 of {} layers of {} with {} heads and {} tokens", shape.layers, shape.width,
               shape.heads, shape.vocabulary);
  TANDEM_CHECK(shape.sequence > 0 && shape.sequence <= shape.positions,
               "a sequence of {} of {} positions", shape.sequence, shape.positions);
}

int Gpt2::module_count() const { return 7 + 10 * static_cast<int>(shape_.layers); }

std::int64_t Gpt2::output_width() const { return shape_.sequence * shape_.vocabulary; }

Objective Gpt2::objective() const {
  return {.kind = ObjectiveKind::kCrossEntropy,
          .target_width = shape_.sequence,
          .classes = shape_.vocabulary};
}

double Gpt2::flops_per_sample() const {
  double block = static_cast<double>(attention_flops(shape_.attention(1)));
  for (const Layer layer : gpt2::kLayers) {
    block += static_cast<double>(product_flops(gpt2::linear_shape(shape_, 1, layer)));
  }
  const auto head = static_cast<double>(product_flops(shape_.head(1)));
  return 3 * (static_cast<double>(shape_.layers) * block + head);
}

void Gpt2::initialise(Executor on, const TensorList& parameters, std::uint64_t seed,
                      Distribution distribution) const {
  constexpr float kDeviation = 0.02F;
  const float plain = scale_for(kDeviation, distribution);
  const float added =
      scale_for(kDeviation / std::sqrt(static_cast<float>(2 * shape_.layers)), distribution);
  const Initialiser set{on, parameters, layout_, seed, distribution};
  set.random(gpt2::kTokens, plain);
  set.random(gpt2::kPositions, plain);
  for (std::int64_t norm = 0; norm < 2 * shape_.layers + 1; ++norm) {
    set.constant(gpt2::norm_segments(norm).gain, 1);
    set.constant(gpt2::norm_segments(norm).bias, 0);
  }
  for (std::int64_t block = 0; block < shape_.layers; ++block) {
    for (const Layer layer : gpt2::kLayers) {
      const bool adds = layer == Layer::kAttentionOut || layer == Layer::kMlpOut;
      const LinearSegments segments = gpt2::linear_segments(block, layer);
      set.random(segments.weight, adds ? added : plain);
      set.constant(segments.bias, 0);
    }
  }
}

std::unique_ptr<Activations> Gpt2::make_activations(Device& device, std::int64_t batch,
                                                    Precision precision) const {
  return std::make_unique<Gpt2Activations>(device, shape_, layout_, batch, precision);
}

void Gpt2::forward(Executor on, const ConstTensorList& parameters, ModuleState& /*state*/,
                   Span<const float> input, Activations& activations) const {
  auto& kept = static_cast<Gpt2Activations&>(activations);
  gpt2_forward({on, shape_, {parameters, kept.copies()}, input, kept});
}

void Gpt2::backward(Executor on, const ConstTensorList& parameters, Span<const float> input,
                    Activations& activations, const TensorList& gradients,
                    GradientSink& sink) const {
  auto& kept = static_cast<Gpt2Activations&>(activations);
  gpt2_backward({on, shape_, {parameters, kept.copies()}, input, kept}, {gradients, sink});
}

namespace {

struct Size {
  std::string_view name;
  Gpt2Shape shape;  // sequence is the length of the position table
};

constexpr Gpt2Shape published(std::int64_t layers, std::int64_t heads, std::int64_t width) {
  return {layers, heads, width, 50257, 1024, 1024};
}

constexpr std::array kSizes{
    Size{"gpt2-nano", {2, 2, 64, 512, 32, 32}}, Size{"gpt2-124m", published(12, 12, 768)},
    Size{"gpt2-355m", published(24, 16, 1024)}, Size{"gpt2-774m", published(36, 20, 1280)},
    Size{"gpt2-1558m", published(48, 25, 1600)}};

std::int64_t sequence_of(const std::string& name, const Size& size, std::string_view text) {
  const std::int64_t most = size.shape.positions;
  const auto length = parse_number<std::int64_t>(text);
  if (length && *length >= 1 && *length <= most) return *length;
  fail(ErrorKind::kUsage, "model '{}': '{}' is no sequence length: use 1 to {}, such as {}:{}",
       name, text, most, size.name, most / 2);
}

}  // namespace

std::vector<std::string> gpt2_names() {
  std::vector<std::string> names;
  for (const Size& size : kSizes) names.emplace_back(size.name);
  return names;
}

std::unique_ptr<Model> make_gpt2(const std::string& name) {
  const std::size_t colon = name.find(':');
  const std::string_view family = std::string_view(name).substr(0, colon);
  const auto size = std::ranges::find(kSizes, family, &Size::name);
  if (size == kSizes.end()) return nullptr;
  Gpt2Shape shape = size->shape;
  if (colon != std::string::npos) {
    shape.sequence = sequence_of(name, *size, std::string_view(name).substr(colon + 1));
  }
  return std::make_unique<Gpt2>(name, shape);
}

}  // namespace tandem
