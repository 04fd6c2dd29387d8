// SPDX-License-Identifier: Apache-2.0
//
// Figures of links and GPUs, each with its source. Bandwidth is the rate of the line: protocol
// headers, which cost another few per cent, are not subtracted. Latency is that of one hop of a
// large message between kernels that drive the link, as in NCCL's own model.
#include "common/runtime/link_presets.h"

#include <array>

namespace tandem {
namespace {

#define TANDEM_NCCL_PCI "latency: NCCL 2.18 src/graph/tuning.cc, hwLat, PCI, Ring, Simple: 5.7 us"
#define TANDEM_NCCL_NVLINK \
  "latency: NCCL 2.18 src/graph/tuning.cc, hwLat, NVLINK, Ring, Simple: 3.4 us"

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

}  // namespace

std::span<const LinkPreset> link_presets() { return kLinks; }

std::span<const GpuPreset> gpu_presets() { return kGpus; }

}  // namespace tandem
