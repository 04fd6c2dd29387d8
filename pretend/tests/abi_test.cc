// SPDX-License-Identifier: Apache-2.0
//
// The project's declarations of CUDA's binary interface against the toolkit's own headers. Built
// where a toolkit is found; everything is checked by the compiler.
#include <cublasLt.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <library_types.h>

#include <cstddef>
#include <string_view>
#include <type_traits>

#include "pretend/abi/cudart.h"
#include "pretend/abi/driver.h"
#include "pretend/core/library_types.h"
#include "pretend/cublaslt/attributes.h"
#include "pretend/cublaslt/descriptors.h"

namespace tandem::pretend::abi {
namespace {

using Properties =
    std::conditional_t<CUDART_VERSION / 1000 == 12, DeviceProperties12, DeviceProperties13>;

#define TANDEM_SAME_PLACE(Own, Real, field) \
  static_assert(offsetof(Own, field) == offsetof(Real, field), #field)
#define TANDEM_SAME_AS(Own, own_field, Real, field) \
  static_assert(offsetof(Own, own_field) == offsetof(Real, field), #field)

static_assert(sizeof(Properties) == sizeof(cudaDeviceProp));
TANDEM_SAME_PLACE(Properties, cudaDeviceProp, uuid);
TANDEM_SAME_PLACE(Properties, cudaDeviceProp, totalGlobalMem);
TANDEM_SAME_PLACE(Properties, cudaDeviceProp, maxThreadsDim);
TANDEM_SAME_PLACE(Properties, cudaDeviceProp, major);
TANDEM_SAME_PLACE(Properties, cudaDeviceProp, multiProcessorCount);
TANDEM_SAME_PLACE(Properties, cudaDeviceProp, pciBusID);
TANDEM_SAME_PLACE(Properties, cudaDeviceProp, l2CacheSize);
TANDEM_SAME_PLACE(Properties, cudaDeviceProp, sharedMemPerMultiprocessor);
TANDEM_SAME_PLACE(Properties, cudaDeviceProp, sharedMemPerBlockOptin);
TANDEM_SAME_PLACE(Properties, cudaDeviceProp, maxBlocksPerMultiProcessor);
TANDEM_SAME_PLACE(Properties, cudaDeviceProp, hostRegisterSupported);

TANDEM_SAME_PLACE(PointerAttributes, cudaPointerAttributes, type);
TANDEM_SAME_PLACE(PointerAttributes, cudaPointerAttributes, device);
TANDEM_SAME_AS(PointerAttributes, device_pointer, cudaPointerAttributes, devicePointer);
TANDEM_SAME_AS(PointerAttributes, host_pointer, cudaPointerAttributes, hostPointer);
static_assert(sizeof(PointerAttributes) <= sizeof(cudaPointerAttributes));

TANDEM_SAME_AS(FunctionAttributes, max_threads_per_block, cudaFuncAttributes, maxThreadsPerBlock);
TANDEM_SAME_AS(FunctionAttributes, registers, cudaFuncAttributes, numRegs);
TANDEM_SAME_AS(FunctionAttributes, binary_version, cudaFuncAttributes, binaryVersion);
static_assert(sizeof(FunctionAttributes) <= sizeof(cudaFuncAttributes));

TANDEM_SAME_AS(LaunchConfig, block, cudaLaunchConfig_t, blockDim);
TANDEM_SAME_AS(LaunchConfig, shared_bytes, cudaLaunchConfig_t, dynamicSmemBytes);
TANDEM_SAME_AS(LaunchConfig, stream, cudaLaunchConfig_t, stream);
TANDEM_SAME_AS(DriverLaunchConfig, block, CUlaunchConfig, blockDimX);
TANDEM_SAME_AS(DriverLaunchConfig, stream, CUlaunchConfig, hStream);

#define TANDEM_SAME_NUMBER(Descriptor, attribute)                                         \
  static_assert(attribute_of(static_cast<const Descriptor*>(nullptr), attribute)->name == \
                std::string_view(#attribute))

TANDEM_SAME_NUMBER(Operation, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE);
TANDEM_SAME_NUMBER(Operation, CUBLASLT_MATMUL_DESC_SCALE_TYPE);
TANDEM_SAME_NUMBER(Operation, CUBLASLT_MATMUL_DESC_POINTER_MODE);
TANDEM_SAME_NUMBER(Operation, CUBLASLT_MATMUL_DESC_TRANSA);
TANDEM_SAME_NUMBER(Operation, CUBLASLT_MATMUL_DESC_TRANSB);
TANDEM_SAME_NUMBER(Operation, CUBLASLT_MATMUL_DESC_EPILOGUE);
TANDEM_SAME_NUMBER(Operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
TANDEM_SAME_NUMBER(Operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER);
TANDEM_SAME_NUMBER(Operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD);
TANDEM_SAME_NUMBER(Operation, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET);
TANDEM_SAME_NUMBER(Operation, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER);
TANDEM_SAME_NUMBER(Operation, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER);
TANDEM_SAME_NUMBER(Operation, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER);
TANDEM_SAME_NUMBER(Operation, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER);
TANDEM_SAME_NUMBER(Operation, CUBLASLT_MATMUL_DESC_FAST_ACCUM);
TANDEM_SAME_NUMBER(Operation, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
TANDEM_SAME_NUMBER(Layout, CUBLASLT_MATRIX_LAYOUT_TYPE);
TANDEM_SAME_NUMBER(Layout, CUBLASLT_MATRIX_LAYOUT_ROWS);
TANDEM_SAME_NUMBER(Layout, CUBLASLT_MATRIX_LAYOUT_COLS);
TANDEM_SAME_NUMBER(Layout, CUBLASLT_MATRIX_LAYOUT_LD);
TANDEM_SAME_NUMBER(Layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
TANDEM_SAME_NUMBER(Layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
TANDEM_SAME_NUMBER(Preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
TANDEM_SAME_NUMBER(Preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
TANDEM_SAME_NUMBER(Preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
TANDEM_SAME_NUMBER(Preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
TANDEM_SAME_NUMBER(Preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
TANDEM_SAME_NUMBER(Preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);

static_assert(sizeof(Operation) <= sizeof(cublasLtMatmulDescOpaque_t));
static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
static_assert(sizeof(Preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t));

static_assert(kCudaMemoryAllocation == static_cast<int>(cudaErrorMemoryAllocation));
static_assert(kCudaInvalidDevice == static_cast<int>(cudaErrorInvalidDevice));
static_assert(kCudaNotReady == static_cast<int>(cudaErrorNotReady));
static_assert(kCudaNotSupported == static_cast<int>(cudaErrorNotSupported));
static_assert(kDriverNotFound == static_cast<int>(CUDA_ERROR_NOT_FOUND));
static_assert(kMultiProcessorCount == static_cast<int>(cudaDevAttrMultiProcessorCount));
static_assert(kMaxSharedMemoryPerBlockOptin ==
              static_cast<int>(cudaDevAttrMaxSharedMemoryPerBlockOptin));
static_assert(kMaxBlocksPerMultiprocessor ==
              static_cast<int>(cudaDevAttrMaxBlocksPerMultiprocessor));
static_assert(kReservedSharedMemoryPerBlock ==
              static_cast<int>(cudaDevAttrReservedSharedMemoryPerBlock));
static_assert(kHostRegisterSupported == static_cast<int>(cudaDevAttrHostRegisterSupported));
static_assert(kPointerDeviceOrdinal == static_cast<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL));
static_assert(kPointerRangeSize == static_cast<int>(CU_POINTER_ATTRIBUTE_RANGE_SIZE));

static_assert(from_cuda(CUDA_R_32F) == ElementType::kF32);
static_assert(from_cuda(CUDA_R_16F) == ElementType::kF16);
static_assert(from_cuda(CUDA_R_16BF) == ElementType::kBf16);
static_assert(from_cuda(CUDA_R_64F) == ElementType::kF64);

TEST(PretendedInterface, IsThatOfTheToolkitThatThisProgramWasBuiltWith) {
  EXPECT_EQ(CUDART_VERSION / 1000 == 12, (std::is_same_v<Properties, DeviceProperties12>));
}

}  // namespace
}  // namespace tandem::pretend::abi
