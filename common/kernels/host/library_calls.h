// SPDX-License-Identifier: Apache-2.0
//
// The code that all users of oneDNN's primitives share, and the one file that knows the version of
// oneDNN: 2 (Debian 12) and 3 (Debian 13, Ubuntu 24.04) describe primitives differently.
#pragma once

#include <array>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <string_view>

#include "common/base/dtype.h"
#include "common/base/error.h"
#include "common/runtime/span.h"

namespace tandem::host {

inline dnnl::memory::data_type library_type(DType type) {
  switch (type) {
    case DType::kFloat32:
      return dnnl::memory::data_type::f32;
    case DType::kBFloat16:
      return dnnl::memory::data_type::bf16;
    case DType::kFloat16:
      break;
  }
  fail(ErrorKind::kLogic, "products of {}", name_of(type));
}

// The address of an operand, null where the operand is left out. oneDNN takes no pointers to const;
// a const operand is only read.
inline void* library_address(ConstAnySpan operand) {
  return operand.empty() ? nullptr : const_cast<std::byte*>(operand.data());
}

// The attributes of a primitive, made anew for each primitive: copies of an attribute share its
// contents, so that a post-op added to one copy would appear in all.
inline dnnl::primitive_attr library_attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

// Makes the primitive compute max(x, 0) of its result.
inline void append_relu(dnnl::primitive_attr& attributes) {
  dnnl::post_ops operations;
#if DNNL_VERSION_MAJOR < 3
  operations.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
#else
  operations.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
#endif
  attributes.set_post_ops(operations);
}

// The description of a forward primitive. `parts` are the operation's own: kind, algorithm, memory
// descriptions (an absent bias is an empty one), strides, padding.
template <class Primitive, class... Parts>
typename Primitive::primitive_desc describe_forward(const dnnl::engine& engine,
                                                    const dnnl::primitive_attr& attributes,
                                                    const Parts&... parts) {
#if DNNL_VERSION_MAJOR < 3
  return {typename Primitive::desc(parts...), attributes, engine};
#else
  return {engine, parts..., attributes};
#endif
}

// The description of a backward primitive, which needs the description of its forward primitive.
template <class Primitive, class Forward, class... Parts>
typename Primitive::primitive_desc describe_backward(const dnnl::engine& engine,
                                                     const Forward& forward,
                                                     const Parts&... parts) {
#if DNNL_VERSION_MAJOR < 3
  return {typename Primitive::desc(parts...), library_attributes(), engine, forward};
#else
  return {engine, parts..., forward, library_attributes()};
#endif
}

struct InstructionSet {
  dnnl::cpu_isa isa;
  std::string_view name;
  bool converts_bf16;  // bf16 products are computed in fp32, as the CPU multiplies no bf16
};

// The sets of instructions that oneDNN may choose on a CPU, by the names in oneDNN's log.
inline constexpr std::array kInstructionSets {
  InstructionSet{dnnl::cpu_isa::sse41, "sse41", false},
      InstructionSet{dnnl::cpu_isa::avx, "avx", false},
      InstructionSet{dnnl::cpu_isa::avx2, "avx2", false},
      InstructionSet{dnnl::cpu_isa::avx2_vnni, "avx2_vnni", false},
      InstructionSet{dnnl::cpu_isa::avx512_core, "avx512_core", true},
      InstructionSet{dnnl::cpu_isa::avx512_core_vnni, "avx512_core_vnni", true},
      InstructionSet{dnnl::cpu_isa::avx512_core_bf16, "avx512_core_bf16", false},
      InstructionSet{dnnl::cpu_isa::avx512_core_amx, "avx512_core_amx", false},
#if DNNL_VERSION_MAJOR < 3
      InstructionSet{dnnl::cpu_isa::all, "unrestricted", false},
      InstructionSet{dnnl::cpu_isa::avx512_mic, "avx512_mic", false},
      InstructionSet{dnnl::cpu_isa::avx512_mic_4ops, "avx512_mic_4ops", false},
#else
      InstructionSet{dnnl::cpu_isa::isa_default, "unrestricted", false},
      InstructionSet{dnnl::cpu_isa::avx2_vnni_2, "avx2_vnni_2", true},
      InstructionSet{dnnl::cpu_isa::avx512_core_fp16, "avx512_core_fp16", false},
      InstructionSet{dnnl::cpu_isa::avx512_core_amx_fp16, "avx512_core_amx_fp16", false},
#endif
};

// The set that oneDNN uses on this CPU; a set without a name where this file does not know the set.
inline InstructionSet effective_instruction_set() {
  const dnnl::cpu_isa effective = dnnl::get_effective_cpu_isa();
  for (const InstructionSet& set : kInstructionSets) {
    if (set.isa == effective) return set;
  }
  return {effective, "an unknown instruction set", false};
}

}  // namespace tandem::host
