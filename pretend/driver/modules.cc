// SPDX-License-Identifier: Apache-2.0
//
// Modules and kernels of the pretended driver: what Triton, NVRTC and extensions load. A kernel is
// its name; a launch goes to the log.
#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <string>

#include "pretend/abi/driver.h"
#include "pretend/core/capture.h"
#include "pretend/core/device.h"
#include "pretend/core/log.h"
#include "pretend/core/put.h"
#include "pretend/core/read_back.h"
#include "pretend/core/settings.h"

using namespace tandem::pretend;

namespace {

struct Module {};

struct Function {
  const char* name;
};

abi::DriverError load(Module** made) { return put(made, new Module); }

using Axes = std::array<unsigned, 3>;

abi::DriverError launch(const char* call, const char* name, const Axes& grid, const Axes& block,
                        unsigned shared_bytes, const void* stream) {
  if (capture::takes(stream, capture::NodeType::kKernel,
                     [=](const void* on) { launch(call, name, grid, block, shared_bytes, on); })) {
    return abi::kDriverSuccess;
  }
  log::Entry entry(call, RecordKind::kLaunch);
  const Target target = entry.at(target_of(stream));
  entry.text(name);
  entry.set(grid[0], grid[1], grid[2], block[0], block[1], block[2], shared_bytes);
  read_back::note_launch(target.device);
  return abi::kDriverSuccess;
}

}  // namespace

extern "C" {

abi::DriverError cuModuleLoad(Module** made, const char*) { return load(made); }

abi::DriverError cuModuleLoadData(Module** made, const void*) { return load(made); }

abi::DriverError cuModuleLoadDataEx(Module** made, const void*, unsigned, int*, void**) {
  return load(made);
}

abi::DriverError cuModuleLoadFatBinary(Module** made, const void*) { return load(made); }

abi::DriverError cuModuleUnload(Module* made) { return destroy(made); }

abi::DriverError cuModuleGetFunction(Function** function, Module*, const char* name) {
  *function =
      new Function{log::keep(name)};  // lives as long as the process, as its module mostly does
  return abi::kDriverSuccess;
}

abi::DriverError cuFuncGetAttribute(int* value, int attribute, const Function*) {
  return put(value, attribute == abi::kFunctionMaxThreads  ? 1024
                    : attribute == abi::kFunctionRegisters ? 32
                                                           : 0);
}

abi::DriverError cuFuncSetAttribute(const Function*, int, int) { return abi::kDriverSuccess; }

abi::DriverError cuFuncSetCacheConfig(const Function*, int) { return abi::kDriverSuccess; }

abi::DriverError cuKernelGetAttribute(int* value, int attribute, const Function* function, int) {
  return cuFuncGetAttribute(value, attribute, function);
}

abi::DriverError cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const Function*,
                                                             int threads, uint64_t) {
  const int by_threads = settings().card->threads_per_processor / (threads < 1 ? 1 : threads);
  *blocks = by_threads < 1 ? 1 : by_threads;
  return abi::kDriverSuccess;
}

abi::DriverError cuOccupancyMaxActiveClusters(int* clusters, const Function*, const void*) {
  return put(clusters, settings().card->processors);
}

abi::DriverError cuLaunchKernel(const Function* function, unsigned grid_x, unsigned grid_y,
                                unsigned grid_z, unsigned block_x, unsigned block_y,
                                unsigned block_z, unsigned shared_bytes, void* stream, void**,
                                void**) {
  return launch("cuLaunchKernel", function->name, {grid_x, grid_y, grid_z},
                {block_x, block_y, block_z}, shared_bytes, stream);
}

abi::DriverError cuLaunchCooperativeKernel(const Function* function, unsigned grid_x,
                                           unsigned grid_y, unsigned grid_z, unsigned block_x,
                                           unsigned block_y, unsigned block_z,
                                           unsigned shared_bytes, void* stream, void**) {
  return launch("cuLaunchCooperativeKernel", function->name, {grid_x, grid_y, grid_z},
                {block_x, block_y, block_z}, shared_bytes, stream);
}

abi::DriverError cuLaunchKernelEx(const abi::DriverLaunchConfig* how, const Function* function,
                                  void**, void**) {
  return launch("cuLaunchKernelEx", function->name, {how->grid[0], how->grid[1], how->grid[2]},
                {how->block[0], how->block[1], how->block[2]}, how->shared_bytes, how->stream);
}

// NVRTC compiles without the driver's tables, but crashes where the driver has no such function.
abi::DriverError cuGetExportTable(const void** table, const void*) {
  *table = nullptr;
  return abi::kDriverNotFound;
}

// Descriptors of tensors for kernels that nobody runs.
abi::DriverError cuTensorMapEncodeTiled() { return abi::kDriverSuccess; }

// Functions have a newer form where "_v2" is appended; callers by this way mean it.
abi::DriverError cuGetProcAddress_v2(const char* name, void** function, int, uint64_t,
                                     int* status) {
  static void* const self = dlopen("libcuda.so.1", RTLD_NOW);
  *function = self == nullptr ? nullptr : dlsym(self, (std::string(name) + "_v2").c_str());
  if (*function == nullptr && self != nullptr) *function = dlsym(self, name);
  if (status != nullptr) *status = *function == nullptr ? 1 : 0;
  return *function == nullptr ? abi::kDriverNotFound : abi::kDriverSuccess;
}

abi::DriverError cuGetProcAddress(const char* name, void** function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}
}
