// SPDX-License-Identifier: Apache-2.0
#include "common/model/gpt2_sizes.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "common/base/units.h"
#include "common/model/gpt2.h"

namespace tandem {
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
