// SPDX-License-Identifier: Apache-2.0
//
// The binary interface of CUDA's runtime, as far as the answers need it: declared here, so that no
// toolkit is needed to build. pretend/tests compares it with the real headers where these are.
#pragma once

#include <cstdint>

namespace tandem::pretend::abi {

enum CudaError : int {
  kCudaSuccess = 0,
  kCudaInvalidValue = 1,
  kCudaMemoryAllocation = 2,
  kCudaInvalidDevice = 101,
  kCudaNoDevice = 100,
  kCudaNoKernelImage = 209,
  kCudaInvalidResourceHandle = 400,
  kCudaIllegalState = 401,
  kCudaSymbolNotFound = 500,
  kCudaNotReady = 600,
  kCudaNotSupported = 801,
  kCudaCaptureUnsupported = 900,
  kCudaCaptureInvalidated = 901,
  kCudaCaptureMerge = 902,
  kCudaCaptureUnmatched = 903,
  kCudaCaptureUnjoined = 904,
  kCudaCaptureIsolation = 905,
  kCudaCaptureImplicit = 906,
  kCudaCapturedEvent = 907,
  kCudaCaptureWrongThread = 908,
  kCudaUnknown = 999,
};

struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
};

struct LaunchConfig {
  Dim3 grid;
  Dim3 block;
  uint64_t shared_bytes;
  void* stream;
  void* attributes;
  unsigned attribute_count;
};

// CUDA 13 appends reserved words, which nobody writes.
struct PointerAttributes {
  int type;  // 0 unregistered, 1 host, 2 device, 3 managed
  int device;
  void* device_pointer;
  void* host_pointer;
};

// cudaIpcMemHandle_t and cudaIpcEventHandle_t.
struct IpcHandle {
  char bytes[64];
};

// The first fields; later ones are left as they are.
struct FunctionAttributes {
  uint64_t shared_bytes;
  uint64_t const_bytes;
  uint64_t local_bytes;
  int max_threads_per_block;
  int registers;
  int ptx_version;
  int binary_version;
  int cache_mode_ca;
  int max_dynamic_shared_bytes;
  int preferred_shared_carveout;
};

// Attributes of a device, by the numbers of cudaDeviceAttr, which are those of CUdevice_attribute.
enum DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kMaxBlockDimX = 2,
  kMaxBlockDimY = 3,
  kMaxBlockDimZ = 4,
  kMaxGridDimX = 5,
  kMaxGridDimY = 6,
  kMaxGridDimZ = 7,
  kMaxSharedMemoryPerBlock = 8,
  kTotalConstantMemory = 9,
  kWarpSize = 10,
  kMaxPitch = 11,
  kMaxRegistersPerBlock = 12,
  kClockRate = 13,
  kTextureAlignment = 14,
  kMultiProcessorCount = 16,
  kCanMapHostMemory = 19,
  kConcurrentKernels = 31,
  kPciBusId = 33,
  kPciDeviceId = 34,
  kMemoryClockRate = 36,
  kMemoryBusWidth = 37,
  kL2CacheSize = 38,
  kMaxThreadsPerMultiProcessor = 39,
  kAsyncEngineCount = 40,
  kUnifiedAddressing = 41,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kStreamPrioritiesSupported = 78,
  kMaxSharedMemoryPerMultiprocessor = 81,
  kMaxRegistersPerMultiprocessor = 82,
  kComputePreemptionSupported = 90,
  kCooperativeLaunch = 95,
  kMaxSharedMemoryPerBlockOptin = 97,
  kHostRegisterSupported = 99,
  kMaxBlocksPerMultiprocessor = 106,
  kReservedSharedMemoryPerBlock = 111,
};

// cudaDeviceProp of CUDA 12: what cudaGetDeviceProperties_v2 fills there.
struct DeviceProperties12 {
  char name[256], uuid[16], luid[8];
  unsigned luidDeviceNodeMask;
  uint64_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  uint64_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
  uint64_t totalConstMem;
  int major, minor;
  uint64_t textureAlignment, texturePitchAlignment;
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory,
      computeMode, texturesAndSurfaces[40];
  uint64_t surfaceAlignment;
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver,
      asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize,
      persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported,
      globalL1CacheSupported, localL1CacheSupported;
  uint64_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID,
      hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio, pageableMemoryAccess,
      concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem,
      cooperativeLaunch, cooperativeMultiDeviceLaunch;
  uint64_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost,
      maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
  uint64_t reservedSharedMemPerBlock;
  int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported,
      timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
  unsigned gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers,
      reserved2[2], reserved1[1], reserved[60];
};

// cudaDeviceProp of CUDA 13: what cudaGetDeviceProperties fills there.
struct DeviceProperties13 {
  char name[256], uuid[16], luid[8];
  unsigned luidDeviceNodeMask;
  uint64_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  uint64_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  uint64_t totalConstMem;
  int major, minor;
  uint64_t textureAlignment, texturePitchAlignment;
  int multiProcessorCount, integrated, canMapHostMemory, texturesAndSurfaces[39];
  uint64_t surfaceAlignment;
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver,
      asyncEngineCount, unifiedAddressing, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize,
      maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported,
      localL1CacheSupported;
  uint64_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID,
      hostNativeAtomicSupported, pageableMemoryAccess, concurrentManagedAccess,
      computePreemptionSupported, canUseHostPointerForRegisteredMem, cooperativeLaunch;
  uint64_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost,
      maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
  uint64_t reservedSharedMemPerBlock;
  int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported,
      timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
  unsigned gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers,
      deviceNumaConfig, deviceNumaId, mpsEnabled, hostNumaId;
  unsigned gpuPciDeviceID, gpuPciSubsystemID;
  int hostNumaMultinodeIpcSupported, reserved[56];
};

}  // namespace tandem::pretend::abi
