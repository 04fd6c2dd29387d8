// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/link_request.h"

#include <array>
#include <charconv>
#include <cmath>

#include "common/base/error.h"
#include "common/runtime/link_presets.h"

namespace tandem {
namespace {

struct Rate {
  std::string_view unit;
  double factor;
};
constexpr std::array kRates{Rate{"KBps", 1e3}, Rate{"MBps", 1e6}, Rate{"GBps", 1e9},
                            Rate{"TBps", 1e12}};

double parse_rate(std::string_view text, std::string_view whole) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(rest - text.data()));
  for (const Rate& rate : kRates) {
    const bool is_number = error == std::errc{} && std::isfinite(number) && number > 0;
    if (is_number && rate.unit == unit) return number * rate.factor;
  }
  fail(ErrorKind::kUsage,
       "--link: '{}': '{}' is no bandwidth: give a number above 0 with KBps, MBps, GBps or TBps, "
       "such as 20us:1GBps",
       whole, text);
}

template <class Preset>
const Preset& find(std::span<const Preset> presets, std::string_view name, const char* what,
                   std::string_view whole) {
  std::string known;
  for (const Preset& preset : presets) {
    if (preset.name == name) return preset;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", preset.name);
  }
  fail(ErrorKind::kUsage, "--link: '{}': '{}' is no {} that is known: use one of {}", whole, name,
       what, known);
}

LinkRequest preset(std::string_view text, std::size_t at) {
  const LinkPreset& link = find(link_presets(), text.substr(0, at), "link", text);
  const GpuPreset& gpu = find(gpu_presets(), text.substr(at + 1), "GPU and format", text);
  return {.text = std::string(text),
          .link = {.latency = Nanoseconds{std::llround(link.latency_us * 1e3)},
                   .bytes_per_second = link.gigabytes_per_second * 1e9},
          .gpu_flops = gpu.teraflops * 1e12};
}

}  // namespace

LinkRequest parse_link(std::string_view text) {
  if (const std::size_t at = text.find('@'); at != text.npos) return preset(text, at);
  const std::size_t colon = text.find(':');
  if (colon == text.npos) {
    fail(ErrorKind::kUsage,
         "--link: '{}' is no link: give LATENCY:BANDWIDTH, such as 20us:1GBps, or a preset, such "
         "as pcie4@a100-fp32",
         text);
  }
  return {.text = std::string(text),
          .link = {.latency = parse_duration(text.substr(0, colon), "--link"),
                   .bytes_per_second = parse_rate(text.substr(colon + 1), text)}};
}

double stretch(const LinkRequest& request, double core_flops) {
  if (!request.is_preset()) return 1;
  TANDEM_CHECK(core_flops > 0, "a core of {} FLOP/s", core_flops);
  return request.gpu_flops / core_flops;
}

LinkModel scaled(const LinkRequest& request, double core_flops) {
  const double k = stretch(request, core_flops);
  const auto latency = static_cast<double>(request.link.latency.count());
  return {.latency = Nanoseconds{std::llround(latency * k)},
          .bytes_per_second = request.link.bytes_per_second / k};
}

}  // namespace tandem
