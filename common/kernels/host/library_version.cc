// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/library_version.h"

#include <fmt/format.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>

namespace tandem {
namespace {

std::string_view name_of(dnnl::cpu_isa isa) {
  switch (isa) {
    case dnnl::cpu_isa::all:
      return "unrestricted";
    case dnnl::cpu_isa::sse41:
      return "sse41";
    case dnnl::cpu_isa::avx:
      return "avx";
    case dnnl::cpu_isa::avx2:
      return "avx2";
    case dnnl::cpu_isa::avx512_mic:
      return "avx512_mic";
    case dnnl::cpu_isa::avx512_mic_4ops:
      return "avx512_mic_4ops";
    case dnnl::cpu_isa::avx512_core:
      return "avx512_core";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "avx512_core_vnni";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "avx512_core_bf16";
    case dnnl::cpu_isa::avx512_core_amx:
      return "avx512_core_amx";
    case dnnl::cpu_isa::avx2_vnni:
      return "avx2_vnni";
  }
  return "an unknown instruction set";
}

}  // namespace

std::string kernel_library_version() {
  const dnnl::version_t* version = dnnl::version();
  return fmt::format("oneDNN {}.{}.{}, {}", version->major, version->minor, version->patch,
                     name_of(dnnl::get_effective_cpu_isa()));
}

}  // namespace tandem
