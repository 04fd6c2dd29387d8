// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/host_support.h"

#include <fmt/format.h>

#include "common/kernels/host/library_calls.h"

namespace tandem {

namespace {

// Asks oneDNN by planning a product, since the CPUs that have bf16 kernels differ between versions
// of oneDNN.
bool has_product() {
  using dnnl::memory;
  const memory::desc square({16, 16}, memory::data_type::bf16, memory::format_tag::ab);
  try {
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    const auto planned = host::describe_forward<dnnl::matmul>(engine, dnnl::primitive_attr(),
                                                              square, square, square);
    return planned.get(true) != nullptr;
  } catch (const dnnl::error&) {
    return false;
  }
}

}  // namespace

Bf16Support host_bf16_support() {
  if (!has_product()) return Bf16Support::kNone;
  return host::effective_instruction_set().converts_bf16 ? Bf16Support::kEmulated
                                                         : Bf16Support::kNative;
}

std::string kernel_library_version() {
  const dnnl::version_t* version = dnnl::version();
  return fmt::format("oneDNN {}.{}.{}, {}", version->major, version->minor, version->patch,
                     host::effective_instruction_set().name);
}

}  // namespace tandem
