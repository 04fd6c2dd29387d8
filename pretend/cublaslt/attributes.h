// SPDX-License-Identifier: Apache-2.0
//
// The attributes of cuBLASLt's descriptors, by the numbers of the library's header: where a
// descriptor keeps them, or that they are refused. pretend/tests/abi_test.cc compares the numbers
// with a toolkit's.
#pragma once

#include <array>
#include <cstdint>

#include "pretend/cublaslt/descriptors.h"

namespace tandem::pretend {

struct KeptValue {
  void* address = nullptr;
  uint64_t bytes = 0;
};

template <typename Descriptor>
struct Attribute {
  int number = 0;
  const char* name = nullptr;
  KeptValue (*value)(Descriptor&) = nullptr;  // nullptr: refused
};

template <auto Member, typename Descriptor, typename Value>
constexpr Attribute<Descriptor> kept_in(Value Descriptor::*, int number, const char* name) {
  return {number, name, [](Descriptor& descriptor) -> KeptValue {
            return {&(descriptor.*Member), sizeof(Value)};
          }};
}

template <auto Member>
constexpr auto kept(int number, const char* name) {
  return kept_in<Member>(Member, number, name);
}

template <typename Descriptor>
constexpr Attribute<Descriptor> refused(int number, const char* name) {
  return {number, name, nullptr};
}

inline constexpr std::array kOperationAttributes = {
    // cublasLtMatmulDescAttributes_t
    kept<&Operation::compute_type>(0, "CUBLASLT_MATMUL_DESC_COMPUTE_TYPE"),
    kept<&Operation::scale_type>(1, "CUBLASLT_MATMUL_DESC_SCALE_TYPE"),
    kept<&Operation::pointer_mode>(2, "CUBLASLT_MATMUL_DESC_POINTER_MODE"),
    kept<&Operation::a>(3, "CUBLASLT_MATMUL_DESC_TRANSA"),
    kept<&Operation::b>(4, "CUBLASLT_MATMUL_DESC_TRANSB"),
    refused<Operation>(5, "CUBLASLT_MATMUL_DESC_TRANSC"),
    refused<Operation>(6, "CUBLASLT_MATMUL_DESC_FILL_MODE"),
    kept<&Operation::epilogue>(7, "CUBLASLT_MATMUL_DESC_EPILOGUE"),
    kept<&Operation::bias>(8, "CUBLASLT_MATMUL_DESC_BIAS_POINTER"),
    refused<Operation>(10, "CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE"),
    kept<&Operation::auxiliary>(11, "CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER"),
    kept<&Operation::auxiliary_leading>(12, "CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD"),
    refused<Operation>(13, "CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE"),
    refused<Operation>(14, "CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE"),
    kept<&Operation::multiprocessors>(15, "CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET"),
    kept<&Operation::a_scale>(17, "CUBLASLT_MATMUL_DESC_A_SCALE_POINTER"),
    kept<&Operation::b_scale>(18, "CUBLASLT_MATMUL_DESC_B_SCALE_POINTER"),
    refused<Operation>(19, "CUBLASLT_MATMUL_DESC_C_SCALE_POINTER"),
    kept<&Operation::d_scale>(20, "CUBLASLT_MATMUL_DESC_D_SCALE_POINTER"),
    kept<&Operation::d_largest>(21, "CUBLASLT_MATMUL_DESC_AMAX_D_POINTER"),
    refused<Operation>(22, "CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE"),
    refused<Operation>(23, "CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER"),
    refused<Operation>(24, "CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER"),
    kept<&Operation::fast_sum>(25, "CUBLASLT_MATMUL_DESC_FAST_ACCUM"),
    kept<&Operation::bias_type>(26, "CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE"),
    refused<Operation>(27, "CUBLASLT_MATMUL_DESC_ATOMIC_SYNC_NUM_CHUNKS_D_ROWS"),
    refused<Operation>(28, "CUBLASLT_MATMUL_DESC_ATOMIC_SYNC_NUM_CHUNKS_D_COLS"),
    refused<Operation>(29, "CUBLASLT_MATMUL_DESC_ATOMIC_SYNC_IN_COUNTERS_POINTER"),
    refused<Operation>(30, "CUBLASLT_MATMUL_DESC_ATOMIC_SYNC_OUT_COUNTERS_POINTER"),
    kept<&Operation::a_scale_mode>(31, "CUBLASLT_MATMUL_DESC_A_SCALE_MODE"),
    kept<&Operation::b_scale_mode>(32, "CUBLASLT_MATMUL_DESC_B_SCALE_MODE"),
    refused<Operation>(33, "CUBLASLT_MATMUL_DESC_C_SCALE_MODE"),
    refused<Operation>(34, "CUBLASLT_MATMUL_DESC_D_SCALE_MODE"),
    refused<Operation>(35, "CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE"),
    refused<Operation>(36, "CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER"),
    refused<Operation>(37, "CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE"),
    refused<Operation>(38, "CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR"),
};

inline constexpr std::array kLayoutAttributes = {
    // cublasLtMatrixLayoutAttribute_t
    kept<&Layout::type>(0, "CUBLASLT_MATRIX_LAYOUT_TYPE"),
    refused<Layout>(1, "CUBLASLT_MATRIX_LAYOUT_ORDER"),
    kept<&Layout::rows>(2, "CUBLASLT_MATRIX_LAYOUT_ROWS"),
    kept<&Layout::columns>(3, "CUBLASLT_MATRIX_LAYOUT_COLS"),
    kept<&Layout::leading>(4, "CUBLASLT_MATRIX_LAYOUT_LD"),
    kept<&Layout::batch>(5, "CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT"),
    kept<&Layout::batch_stride>(6, "CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET"),
    refused<Layout>(7, "CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET"),
    refused<Layout>(8, "CUBLASLT_MATRIX_LAYOUT_BATCH_MODE"),
};

inline constexpr std::array kPreferenceAttributes = {
    // cublasLtMatmulPreferenceAttributes_t
    refused<Preference>(0, "CUBLASLT_MATMUL_PREF_SEARCH_MODE"),
    kept<&Preference::workspace_bytes>(1, "CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES"),
    kept<&Preference::reductions>(3, "CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK"),
    kept<&Preference::a_alignment>(5, "CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES"),
    kept<&Preference::b_alignment>(6, "CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES"),
    kept<&Preference::c_alignment>(7, "CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES"),
    kept<&Preference::d_alignment>(8, "CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES"),
    refused<Preference>(9, "CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT"),
    refused<Preference>(12, "CUBLASLT_MATMUL_PREF_IMPL_MASK"),
};

constexpr const auto& attributes_of(const Operation*) { return kOperationAttributes; }
constexpr const auto& attributes_of(const Layout*) { return kLayoutAttributes; }
constexpr const auto& attributes_of(const Preference*) { return kPreferenceAttributes; }

// nullptr where the number is in no header.
template <typename Descriptor>
constexpr const Attribute<Descriptor>* attribute_of(const Descriptor* descriptor, int number) {
  for (const Attribute<Descriptor>& attribute : attributes_of(descriptor)) {
    if (attribute.number == number) return &attribute;
  }
  return nullptr;
}

}  // namespace tandem::pretend
