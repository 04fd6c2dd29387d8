// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/registry.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <system_error>
#include <vector>

#include "common/base/error.h"
#include "common/runtime/host/host_platform.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

// Whether a file name is a GPU's: nvidia0, nvidia12; not nvidiactl, nvidia-uvm, nvidia-caps, which
// exist without a GPU.
bool names_a_gpu(std::string_view name) {
  constexpr std::string_view kPrefix = "nvidia";
  if (!name.starts_with(kPrefix) || name.size() == kPrefix.size()) return false;
  name.remove_prefix(kPrefix.size());
  return std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;  // an absent folder has no entries
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    entries.push_back(it->path());
  }
  std::ranges::sort(entries);
  return entries;
}

std::string reason(const BackendFacts& facts) {
  const std::string& detail = facts.cuda.detail;
  const bool device_hidden = facts.cuda.state == CudaState::kNoDeviceVisible ||
                             facts.cuda.state == CudaState::kOtherTrouble;
  if (device_hidden && !facts.gpu_denied.empty()) {
    return fmt::format("this user may not open {}", facts.gpu_denied);
  }
  switch (facts.cuda.state) {
    case CudaState::kUsable:
      break;
    case CudaState::kModuleMissing:
      return fmt::format("this build has no CUDA module ({}): build it with the CUDA toolkit",
                         detail);
    case CudaState::kModuleBroken:
      return fmt::format("the CUDA module is unusable ({})", detail);
    case CudaState::kDriverMissing:
    case CudaState::kDriverTooOld:
    case CudaState::kNoDeviceVisible:
    case CudaState::kNoCode:
    case CudaState::kBusy:
    case CudaState::kNotPermitted:
    case CudaState::kOtherTrouble:
      return detail;
  }
  return "no reason is known";
}

BackendDecision decide_host(const BackendFacts& facts) {
  if (facts.gpu.empty()) return {Backend::kHost, "backend host: as asked"};
  return {Backend::kHost,
          fmt::format("backend host: as asked; the NVIDIA GPU here ({}) is not used", facts.gpu)};
}

BackendDecision decide_cuda(const BackendFacts& facts) {
  // If CUDA is asked for by name, CUDA's own answer counts, whatever the file system shows.
  if (facts.cuda.state == CudaState::kUsable) return {Backend::kCuda, "backend cuda: as asked"};
  if (facts.gpu.empty()) {
    fail(ErrorKind::kUsage,
         "--backend=cuda: no NVIDIA GPU in this machine ({}); pass --backend=host", reason(facts));
  }
  fail(ErrorKind::kUsage,
       "--backend=cuda: the NVIDIA GPU here ({}) cannot be used: {}; "
       "or pass --backend=host",
       facts.gpu, reason(facts));
}

BackendDecision decide_auto(const BackendFacts& facts) {
  if (facts.gpu.empty()) return {Backend::kHost, "backend host: no NVIDIA GPU in this machine"};
  if (facts.cuda.state != CudaState::kUsable) {
    fail(ErrorKind::kUsage,
         "--backend=auto: the NVIDIA GPU here ({}) cannot be used: {}; "
         "pass --backend=host to run on the CPU",
         facts.gpu, reason(facts));
  }
  return {Backend::kCuda, fmt::format("backend cuda: NVIDIA GPU present ({})", facts.gpu)};
}

}  // namespace

BackendDecision decide_backend(BackendChoice choice, const BackendFacts& facts) {
  switch (choice) {
    case BackendChoice::kHost:
      return decide_host(facts);
    case BackendChoice::kCuda:
      return decide_cuda(facts);
    case BackendChoice::kSimulated:
      break;  // such devices are opened by the simulation that they are part of
    case BackendChoice::kAuto:
      return decide_auto(facts);
  }
  fail(ErrorKind::kLogic, "no such back end of this machine");
}

BackendFacts find_gpu(const fs::path& root) {
  BackendFacts facts;
  for (const fs::path& entry : sorted_entries(root / "dev")) {
    if (!names_a_gpu(entry.filename().string())) continue;
    if (facts.gpu.empty()) facts.gpu = entry.string();
    const bool may_open = access(entry.c_str(), R_OK | W_OK) == 0;
    if (!may_open && facts.gpu_denied.empty()) facts.gpu_denied = entry.string();
  }
  if (!facts.gpu.empty()) return facts;
  // A container without the device files still shows the host's GPUs here; Windows' Linux has
  // neither files nor GPUs here, but brings its driver with the paravirtual device.
  const std::vector<fs::path> listed = sorted_entries(root / "proc/driver/nvidia/gpus");
  std::error_code ignored;
  const fs::path windows_driver = root / "usr/lib/wsl/lib/libcuda.so.1";
  if (!listed.empty()) {
    facts.gpu = listed.front().string();
  } else if (fs::exists(root / "dev/dxg", ignored) && fs::exists(windows_driver, ignored)) {
    facts.gpu = windows_driver.string();
  }
  return facts;
}

BackendFacts probe_backends(BackendChoice choice, const PlatformOptions& options) {
  BackendFacts facts = find_gpu("/");
  const bool cuda_matters =
      choice == BackendChoice::kCuda || (choice == BackendChoice::kAuto && !facts.gpu.empty());
  if (!cuda_matters) return facts;
  const LoadedCudaModule loaded = load_cuda_module();
  facts.cuda = loaded.module == nullptr ? loaded.trouble : loaded.module->probe(options);
  return facts;
}

BackendDecision choose_backend(BackendChoice choice, const PlatformOptions& options) {
  const BackendFacts facts = probe_backends(choice, options);
  BackendDecision decision = decide_backend(choice, facts);
  if (decision.backend == Backend::kCuda) decision.gpus = facts.cuda.gpus;
  return decision;
}

std::unique_ptr<Platform> open_platform(Backend backend, const PlatformOptions& options) {
  if (backend == Backend::kHost) return host::make_host_platform(options);
  TANDEM_CHECK(backend == Backend::kCuda, "no such back end of this machine");
  const LoadedCudaModule loaded = load_cuda_module();
  if (loaded.module == nullptr) {
    fail(ErrorKind::kUsage, "--backend=cuda: {}; or pass --backend=host", loaded.trouble.detail);
  }
  return loaded.module->open(options);
}

std::unique_ptr<Platform> make_platform(BackendChoice choice, const PlatformOptions& options) {
  return open_platform(choose_backend(choice, options).backend, options);
}

}  // namespace tandem
