// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/link_request.h"

#include <array>
#include <cmath>

#include "common/base/error.h"

namespace tandem {
namespace {

#define TANDEM_NCCL_PCI "latency: NCCL 2.18 src/graph/tuning.cc, hwLat, PCI, Ring, Simple: 5.7 us"
#define TANDEM_NCCL_NVLINK \
  "latency: NCCL 2.18 src/graph/tuning.cc, hwLat, NVLINK, Ring, Simple: 3.4 us"

// Bandwidth is the rate of the line: protocol headers, which cost another few per cent, are not
// subtracted. Latency is that of one hop of a large message between kernels that drive the link, as
// in NCCL's own model.
constexpr std::array kLinks{
    LinkPreset{"pcie3", 15.754, 5.7,
               "PCI Express Base Specification 3.0: 8 GT/s x 16 lanes x 128/130; " TANDEM_NCCL_PCI},
    LinkPreset{
        "pcie4", 31.508, 5.7,
        "PCI Express Base Specification 4.0: 16 GT/s x 16 lanes x 128/130; " TANDEM_NCCL_PCI},
    LinkPreset{
        "pcie5", 63.015, 5.7,
        "PCI Express Base Specification 5.0: 32 GT/s x 16 lanes x 128/130; " TANDEM_NCCL_PCI},
    LinkPreset{"nvlink3", 300, 3.4,
               "NVIDIA A100 datasheet: NVLink 600 GB/s, both directions; " TANDEM_NCCL_NVLINK},
    LinkPreset{"nvlink4", 450, 3.4,
               "NVIDIA H100 datasheet: NVLink 900 GB/s, both directions; " TANDEM_NCCL_NVLINK}};

#undef TANDEM_NCCL_PCI
#undef TANDEM_NCCL_NVLINK

// SXM boards. V100 has neither TF32 nor BF16. A datasheet figure with sparsity is halved.
constexpr std::array kGpus{
    GpuPreset{"v100-fp32", 15.7, "NVIDIA V100 datasheet, SXM2: single precision 15.7 TFLOPS"},
    GpuPreset{"a100-fp32", 19.5, "NVIDIA A100 datasheet: FP32 19.5 TFLOPS"},
    GpuPreset{"a100-tf32", 156, "NVIDIA A100 datasheet: TF32 156 TFLOPS, dense"},
    GpuPreset{"a100-bf16", 312, "NVIDIA A100 datasheet: BFLOAT16 312 TFLOPS, dense"},
    GpuPreset{"h100-fp32", 67, "NVIDIA H100 datasheet, SXM: FP32 67 TFLOPS"},
    GpuPreset{"h100-tf32", 494.5, "NVIDIA H100 datasheet, SXM: TF32 989 TFLOPS with sparsity"},
    GpuPreset{"h100-bf16", 989.5,
              "NVIDIA H100 datasheet, SXM: BFLOAT16 1979 TFLOPS with sparsity"}};

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
  const LinkPreset& link = find<LinkPreset>(kLinks, text.substr(0, at), "link", text);
  const GpuPreset& gpu = find<GpuPreset>(kGpus, text.substr(at + 1), "GPU and format", text);
  return {.text = std::string(text),
          .link = {.latency = Nanoseconds{std::llround(link.latency_us * 1e3)},
                   .bytes_per_second = link.gigabytes_per_second * 1e9},
          .gpu_flops = gpu.teraflops * 1e12};
}

}  // namespace

std::span<const LinkPreset> link_presets() { return kLinks; }

std::span<const GpuPreset> gpu_presets() { return kGpus; }

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
                   .bytes_per_second =
                       parse_bandwidth(text.substr(colon + 1), fmt::format("--link: '{}'", text))}};
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
