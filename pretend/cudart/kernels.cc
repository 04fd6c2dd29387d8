// SPDX-License-Identifier: Apache-2.0
//
// Kernels of the pretended runtime: registered by the program's start-up code, asked about, and
// launched, which only logs. A kernel's handle is the address of its host function.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "pretend/core/capture.h"
#include "pretend/core/device.h"
#include "pretend/core/log.h"
#include "pretend/core/put.h"
#include "pretend/core/read_back.h"
#include "pretend/core/settings.h"
#include "pretend/cudart/last_error.h"
#include "pretend/torch_kernels/torch_kernel.h"

using namespace tandem::pretend;

namespace {

// What stands behind the handle of a registered fat binary, whose first word is CUDA's.
struct Binary {
  const void* registered;
  int version;  // of the code that the card would run; 0: none
};

struct Registered {
  const char* name;
  int version;
};

struct Kernel {
  const void* function = nullptr;
  const char* name = nullptr;
  int version = 0;
  bool tells_elements = false;  // by its first argument, as torch's element-wise kernels do
  std::unique_ptr<torch_kernels::TorchKernel> computed{};  // where it is computed
  bool only_counts = false;  // as nearly all kernels, where nothing is captured or logged
};

struct Registry {
  std::mutex mutex{};
  std::unordered_map<const void*, Registered> kernels{};
  std::unordered_map<const void*, void*> variables{};
  std::unordered_map<const void*, Kernel> launched{};
};

Registry& registry() {
  static Registry* const registry = new Registry;
  return *registry;
}

int card_version() { return settings().card->major * 10 + settings().card->minor; }

constexpr uint32_t kRegisteredMagic = 0x466243b1;
constexpr uint32_t kBinaryMagic = 0xba55ed50;

struct RegisteredBinary {
  uint32_t magic;
  uint32_t version;
  const char* binary;
};

// A fat binary is this header and its images, each behind a header of its own.
struct BinaryHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t header_bytes;
  uint64_t bytes;
};

struct ImageHeader {
  uint16_t kind;  // 1: PTX, which newer GPUs compile; 2: code, for GPUs of one major version
  uint16_t version;
  uint32_t header_bytes;
  uint64_t bytes;
  uint32_t others[3];
  uint32_t capability;
};

template <typename Header>
Header read(const char* from) {
  Header header;
  std::memcpy(&header, from, sizeof header);
  return header;
}

bool runs(const ImageHeader& image, uint32_t card) {
  const bool is_ptx = image.kind == 1;
  return image.capability <= card && (is_ptx || image.capability / 10 == card / 10);
}

// The code of a fat binary that a GPU would run, as 10 * major + minor of the compute capability:
// CUDA's own libraries choose by it the sizes that they compiled. 0 where the binary has no code
// for the card, and the card's own where the binary is not understood.
int image_version(const void* registered) {
  const auto card = static_cast<uint32_t>(card_version());
  const auto given = read<RegisteredBinary>(static_cast<const char*>(registered));
  if (given.magic != kRegisteredMagic || read<BinaryHeader>(given.binary).magic != kBinaryMagic) {
    return static_cast<int>(card);
  }
  const auto header = read<BinaryHeader>(given.binary);
  const char* at = given.binary + header.header_bytes;
  const char* const end = at + header.bytes;
  uint32_t newest = 0;
  while (at < end) {
    const auto image = read<ImageHeader>(at);
    if (runs(image, card)) newest = std::max(newest, image.capability);
    at += image.header_bytes + image.bytes;
  }
  return static_cast<int>(newest);
}

// The kernels launched last, so that a launch takes no lock. They stay in the registry.
std::array<std::atomic<const Kernel*>, 1024> recent;

std::atomic<const Kernel*>& recent_entry(const void* function) {
  return recent[(reinterpret_cast<uintptr_t>(function) >> 4) % recent.size()];
}

const Kernel& find_kernel(const void* function) {
  const std::lock_guard lock(registry().mutex);
  const auto [at, is_new] = registry().launched.try_emplace(function);
  Kernel& kernel = at->second;
  if (is_new) {
    const auto found = registry().kernels.find(function);
    const auto [name, version] = found == registry().kernels.end()
                                     ? Registered{"unregistered", card_version()}
                                     : found->second;
    kernel.function = function;
    kernel.name = name;
    kernel.version = version;
    kernel.tells_elements = std::strstr(name, "elementwise_kernelI") != nullptr;
    kernel.computed = torch_kernels::recognise(name);
    kernel.only_counts = version != 0 && kernel.computed == nullptr;
  }
  return kernel;
}

const Kernel& kernel_of(const void* function) {
  std::atomic<const Kernel*>& entry = recent_entry(function);
  const Kernel* const known = entry.load(std::memory_order_acquire);
  if (known != nullptr && known->function == function) return *known;
  const Kernel& kernel = find_kernel(function);
  entry.store(&kernel, std::memory_order_release);
  return kernel;
}

struct Configuration {
  abi::Dim3 grid{};
  abi::Dim3 block{};
  uint64_t shared_bytes = 0;
  const void* stream = nullptr;
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

// `arguments` is nullptr where a graph launches the kernel: those of its capture are gone.
void compute(const Kernel& kernel, const Configuration& how, void** arguments, int device) {
  if (kernel.computed == nullptr || arguments == nullptr ||
      !kernel.computed->compute(arguments, how.grid.y)) {
    read_back::note_launch(device);
  }
}

void log_launch(const char* call, const Kernel& kernel, const Configuration& how, void** arguments,
                int elements) {
  log::Entry entry(call, RecordKind::kLaunch);
  const Target target = target_of(how.stream);
  compute(kernel, how, arguments, target.device);
  entry.at(target.device, target.stream);
  entry.text(kernel.name);
  entry.set(how.grid.x, how.grid.y, how.grid.z, how.block.x, how.block.y, how.block.z,
            how.shared_bytes, elements);
}

bool is_captured(const char* call, const Kernel& kernel, const Configuration& how,
                 void** arguments) {
  const int elements = elements_of(kernel, arguments);
  return capture::keep(how.stream, capture::NodeType::kKernel, [=, &kernel](const void* on) {
    const Configuration again{how.grid, how.block, how.shared_bytes, on};
    if (log::on) {
      log_launch(call, kernel, again, nullptr, elements);
    } else {
      compute(kernel, again, nullptr, target_of(on).device);
    }
  });
}

bool is_only_counted(const void* function) {
  const Kernel* const known = recent_entry(function).load(std::memory_order_acquire);
  return known != nullptr && known->function == function && known->only_counts && !log::on &&
         !capture::is_any();
}

// Apart from the way that nearly all launches take.
[[gnu::noinline]] abi::CudaError launch_beyond(const char* call, const void* function,
                                               const Configuration& how, void** arguments) {
  const Kernel& kernel = kernel_of(function);
  if (capture::is_any() && is_captured(call, kernel, how, arguments)) return abi::kCudaSuccess;
  if (kernel.version == 0) return with_last_error(abi::kCudaNoKernelImage);
  if (log::on) {
    log_launch(call, kernel, how, arguments, elements_of(kernel, arguments));
  } else {
    compute(kernel, how, arguments, target_of(how.stream).device);
  }
  return abi::kCudaSuccess;
}

// `how` gives the configuration, which few launches need.
template <typename How>
abi::CudaError launch(const char* call, const void* function, const void* stream, void** arguments,
                      const How& how) {
  if (!is_only_counted(function)) return launch_beyond(call, function, how(), arguments);
  read_back::note_launch(target_of(stream).device);
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

Binary* __cudaRegisterFatBinary(const void* registered) {
  return new Binary{registered, image_version(registered)};
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(Binary* binary) { delete binary; }

void __cudaRegisterFunction(const Binary* binary, const char* function, char*, const char* name,
                            int, void*, void*, void*, void*, int*) {
  const std::lock_guard lock(registry().mutex);
  registry().kernels[function] = {name, binary->version};
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
  if (depth < 8) pushed[depth++] = {grid, block, shared_bytes, stream};
  return 0;
}

abi::CudaError __cudaPopCallConfiguration(abi::Dim3* grid, abi::Dim3* block, uint64_t* shared_bytes,
                                          void** stream) {
  const Configuration top = depth > 0 ? pushed[--depth] : Configuration{};
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *stream = const_cast<void*>(top.stream);
  return abi::kCudaSuccess;
}

abi::CudaError __cudaGetKernel(const void** kernel, const void* function) {
  return put(kernel, function);
}

abi::CudaError cudaGetKernel(const void** kernel, const void* function) {
  return __cudaGetKernel(kernel, function);
}

abi::CudaError cudaGetFuncBySymbol(const void** kernel, const void* function) {
  return __cudaGetKernel(kernel, function);
}

abi::CudaError cudaLaunchKernel(const void* function, abi::Dim3 grid, abi::Dim3 block,
                                void** arguments, uint64_t shared_bytes, void* stream) {
  return launch("cudaLaunchKernel", function, stream, arguments, [&] {
    return Configuration{grid, block, shared_bytes, stream};
  });
}

abi::CudaError __cudaLaunchKernel(const void* kernel, abi::Dim3 grid, abi::Dim3 block,
                                  void** arguments, uint64_t shared_bytes, void* stream) {
  return launch("cudaLaunchKernel", kernel, stream, arguments, [&] {
    return Configuration{grid, block, shared_bytes, stream};
  });
}

abi::CudaError cudaLaunchCooperativeKernel(const void* function, abi::Dim3 grid, abi::Dim3 block,
                                           void** arguments, uint64_t shared_bytes, void* stream) {
  return launch("cudaLaunchCooperativeKernel", function, stream, arguments, [&] {
    return Configuration{grid, block, shared_bytes, stream};
  });
}

abi::CudaError cudaLaunchKernelExC(const abi::LaunchConfig* how, const void* function,
                                   void** arguments) {
  return launch("cudaLaunchKernelExC", function, how->stream, arguments, [&] {
    return Configuration{how->grid, how->block, how->shared_bytes, how->stream};
  });
}

abi::CudaError cudaFuncGetAttributes(abi::FunctionAttributes* attributes, const void* function) {
  const Card& card = *settings().card;
  const int version = kernel_of(function).version;
  if (version == 0) return with_last_error(abi::kCudaNoKernelImage);
  *attributes = {.shared_bytes = 0,
                 .const_bytes = 0,
                 .local_bytes = 0,
                 .max_threads_per_block = 1024,
                 .registers = 32,
                 .ptx_version = version,
                 .binary_version = version,
                 .cache_mode_ca = 0,
                 .max_dynamic_shared_bytes = card.shared_per_block_optin,
                 .preferred_shared_carveout = -1};
  return abi::kCudaSuccess;
}

abi::CudaError cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int threads,
                                                             uint64_t) {
  return put(blocks, blocks_that_fit(threads));
}

abi::CudaError cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*,
                                                                      int threads, uint64_t,
                                                                      unsigned) {
  return put(blocks, blocks_that_fit(threads));
}

abi::CudaError cudaGetSymbolAddress(void** address, const void* variable) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().variables.find(variable);
  *address = found == registry().variables.end() ? nullptr : found->second;
  return with_last_error(*address == nullptr ? abi::kCudaSymbolNotFound : abi::kCudaSuccess);
}
}
