// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/bf16_support.h"

#include <oneapi/dnnl/dnnl.hpp>

namespace tandem {
namespace {

// Asked by planning a product: which CPUs have kernels differs between versions of the library.
bool has_product() {
  using dnnl::memory;
  const memory::desc square({16, 16}, memory::data_type::bf16, memory::format_tag::ab);
  try {
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    const dnnl::matmul::primitive_desc planned({square, square, square}, engine);
    return planned.get(true) != nullptr;
  } catch (const dnnl::error&) {
    return false;
  }
}

// AVX-512 of before its bf16 instructions.
bool is_emulated() {
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  return isa == dnnl::cpu_isa::avx512_core || isa == dnnl::cpu_isa::avx512_core_vnni;
}

}  // namespace

Bf16Support host_bf16_support() {
  if (!has_product()) return Bf16Support::kNone;
  return is_emulated() ? Bf16Support::kEmulated : Bf16Support::kNative;
}

}  // namespace tandem
