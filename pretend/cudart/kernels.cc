// SPDX-License-Identifier: Apache-2.0
//
// Kernels of the pretended runtime: registered by the program's start-up code, asked about, and
// launched, which only logs. A kernel's handle is the address of its host function.
#include <cstdint>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "pretend/core/device.h"
#include "pretend/core/log.h"
#include "pretend/core/read_back.h"
#include "pretend/core/settings.h"
#include "pretend/cudart/last_error.h"

using namespace tandem::pretend;

namespace {

struct Registry {
  std::mutex mutex{};
  std::unordered_map<const void*, const char*> names{};
  std::unordered_map<const void*, void*> variables{};
};

Registry& registry() {
  static Registry* const registry = new Registry;
  return *registry;
}

struct Kernel {
  const void* function = nullptr;
  const char* name = nullptr;
  bool tells_elements = false;  // by its first argument, as torch's element-wise kernels do
};

// The kernels that a thread has launched, so that a launch takes no lock.
const Kernel& kernel_of(const void* function) {
  thread_local Kernel known[256];
  Kernel& entry = known[(reinterpret_cast<uintptr_t>(function) >> 4) % 256];
  if (entry.function != function) {
    const std::lock_guard lock(registry().mutex);
    const auto found = registry().names.find(function);
    entry.function = function;
    entry.name = found == registry().names.end() ? "unregistered" : found->second;
    entry.tells_elements = std::strstr(entry.name, "elementwise_kernelI") != nullptr;
  }
  return entry;
}

struct Configuration {
  abi::Dim3 grid{};
  abi::Dim3 block{};
  uint64_t shared_bytes = 0;
  void* stream = nullptr;
};

// Between <<<...>>> and the launch; they nest where an argument launches a kernel itself.
thread_local Configuration pushed[8];
thread_local int depth = 0;

int elements_of(const Kernel& kernel, void** arguments) {
  int elements = 0;
  if (kernel.tells_elements && arguments != nullptr) {
    std::memcpy(&elements, arguments[0], sizeof elements);
  }
  return elements;
}

abi::CudaError launch(const char* call, const void* function, const Configuration& how,
                      void** arguments) {
  log::Entry entry(call, RecordKind::kLaunch);
  const Target target = target_of(how.stream);
  read_back::note_launch(target.device);
  if (log::on) {
    entry.at(target.device, target.stream);
    const Kernel& kernel = kernel_of(function);
    entry.text(kernel.name);
    entry.set(how.grid.x, how.grid.y, how.grid.z, how.block.x, how.block.y, how.block.z,
              how.shared_bytes, elements_of(kernel, arguments));
  }
  return abi::kCudaSuccess;
}

// How many blocks fit by threads: what the answer depends on most, and all that is known here.
int blocks_that_fit(int threads) {
  const Card& card = *settings().card;
  const int by_threads = card.threads_per_processor / (threads < 1 ? 1 : threads);
  return by_threads < card.blocks_per_processor ? by_threads : card.blocks_per_processor;
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* binary) { return new void*(binary); }

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) { delete handle; }

void __cudaRegisterFunction(void**, const char* function, char*, const char* name, int, void*,
                            void*, void*, void*, int*) {
  const std::lock_guard lock(registry().mutex);
  registry().names[function] = name;
}

// The host's variable stands in for the device's.
void __cudaRegisterVar(void**, char* variable, char*, const char*, int, uint64_t, int, int) {
  const std::lock_guard lock(registry().mutex);
  registry().variables[variable] = variable;
}

void __cudaRegisterManagedVar(void**, void** variable, char*, const char*, int, uint64_t, int,
                              int) {
  const std::lock_guard lock(registry().mutex);
  registry().variables[variable] = variable;
}

char __cudaInitModule(void**) { return 1; }

unsigned __cudaPushCallConfiguration(abi::Dim3 grid, abi::Dim3 block, uint64_t shared_bytes,
                                     void* stream) {
  if (depth < 8) {
    pushed[depth++] = {grid, block, shared_bytes, stream};
  }
  return 0;
}

abi::CudaError __cudaPopCallConfiguration(abi::Dim3* grid, abi::Dim3* block, uint64_t* shared_bytes,
                                          void** stream) {
  const Configuration top = depth > 0 ? pushed[--depth] : Configuration{};
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *stream = top.stream;
  return abi::kCudaSuccess;
}

abi::CudaError __cudaGetKernel(const void** kernel, const void* function) {
  *kernel = function;
  return abi::kCudaSuccess;
}

abi::CudaError cudaGetKernel(const void** kernel, const void* function) {
  return __cudaGetKernel(kernel, function);
}

abi::CudaError cudaGetFuncBySymbol(const void** kernel, const void* function) {
  return __cudaGetKernel(kernel, function);
}

abi::CudaError cudaLaunchKernel(const void* function, abi::Dim3 grid, abi::Dim3 block,
                                void** arguments, uint64_t shared_bytes, void* stream) {
  return launch("cudaLaunchKernel", function, {grid, block, shared_bytes, stream}, arguments);
}

abi::CudaError __cudaLaunchKernel(const void* kernel, abi::Dim3 grid, abi::Dim3 block,
                                  void** arguments, uint64_t shared_bytes, void* stream) {
  return launch("cudaLaunchKernel", kernel, {grid, block, shared_bytes, stream}, arguments);
}

abi::CudaError cudaLaunchCooperativeKernel(const void* function, abi::Dim3 grid, abi::Dim3 block,
                                           void** arguments, uint64_t shared_bytes, void* stream) {
  return launch("cudaLaunchCooperativeKernel", function, {grid, block, shared_bytes, stream},
                arguments);
}

abi::CudaError cudaLaunchKernelExC(const abi::LaunchConfig* how, const void* function,
                                   void** arguments) {
  return launch("cudaLaunchKernelExC", function,
                {how->grid, how->block, how->shared_bytes, how->stream}, arguments);
}

abi::CudaError cudaFuncGetAttributes(abi::FunctionAttributes* attributes, const void*) {
  const Card& card = *settings().card;
  *attributes = {.shared_bytes = 0,
                 .const_bytes = 0,
                 .local_bytes = 0,
                 .max_threads_per_block = 1024,
                 .registers = 32,
                 .ptx_version = card.major * 10 + card.minor,
                 .binary_version = card.major * 10 + card.minor,
                 .cache_mode_ca = 0,
                 .max_dynamic_shared_bytes = card.shared_per_block_optin,
                 .preferred_shared_carveout = -1};
  return abi::kCudaSuccess;
}

abi::CudaError cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int threads,
                                                             uint64_t) {
  *blocks = blocks_that_fit(threads);
  return abi::kCudaSuccess;
}

abi::CudaError cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*,
                                                                      int threads, uint64_t,
                                                                      unsigned) {
  *blocks = blocks_that_fit(threads);
  return abi::kCudaSuccess;
}

abi::CudaError cudaGetSymbolAddress(void** address, const void* variable) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().variables.find(variable);
  *address = found == registry().variables.end() ? nullptr : found->second;
  return with_last_error(*address == nullptr ? abi::kCudaSymbolNotFound : abi::kCudaSuccess);
}
}
