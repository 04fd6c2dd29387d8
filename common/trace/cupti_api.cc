// SPDX-License-Identifier: Apache-2.0
#include "common/trace/cupti_api.h"

#include <fmt/format.h>
#include <link.h>

#include <cstdlib>
#include <string_view>

#include "common/base/library.h"
#include "common/trace/cupti_session.h"

namespace tandem::cupti {
namespace {

// The library of the toolkit's major version, since another version's records look different.
std::string soname() { return fmt::format("libcupti.so.{}", CUDA_VERSION / 1000); }

// The folder of the cuBLASLt that this process has loaded; empty where it has loaded none.
std::string folder_of_cublas() {
  std::string folder;
  const auto look = [](dl_phdr_info* library, std::size_t /*size*/, void* found) {
    const std::string_view path = library->dlpi_name;
    const std::size_t place = path.find("/libcublasLt.so");
    if (place == std::string_view::npos) return 0;
    *static_cast<std::string*>(found) = path.substr(0, place);
    return 1;
  };
  dl_iterate_phdr(look, &folder);
  return folder;
}

}  // namespace

std::vector<std::string> usual_libraries() {
  std::vector<std::string> files{soname()};
  if (const std::string folder = folder_of_cublas(); !folder.empty()) {
    files.push_back(fmt::format("{}/{}", folder, soname()));
    files.push_back(fmt::format("{}/../../cuda_cupti/lib/{}", folder, soname()));
  }
  const auto add_toolkit = [&](const std::string& home) {
    for (const char* folder : {"lib64", "lib", "extras/CUPTI/lib64"}) {
      files.push_back(fmt::format("{}/{}/{}", home, folder, soname()));
    }
  };
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* const home = std::getenv(name)) add_toolkit(home);
  }
  add_toolkit("/usr/local/cuda");
  add_toolkit(fmt::format("/usr/local/cuda-{}", CUDA_VERSION / 1000));
  return files;
}

std::string load_api(const std::vector<std::string>& files, Api& api) {
  std::string first;
  for (const std::string& file : files) {
    Library library(file);
    if (first.empty()) first = library.trouble();
    if (!library.is_loaded()) continue;
#define TANDEM_FIND(place, name) library.find(api.place, #name);
    TANDEM_EACH_CUPTI_CALL(TANDEM_FIND)
#undef TANDEM_FIND
    return library.trouble().empty() ? "" : library.trouble() + ": install a newer one";
  }
  return first + ": install the CUDA toolkit's CUPTI, or add its folder to LD_LIBRARY_PATH";
}

std::string refusal(const Api& api, const char* call, CUptiResult result) {
  const char* name = nullptr;
  if (api.result_string(result, &name) != CUPTI_SUCCESS || name == nullptr) name = "no name";
  const char* advice = "";
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      advice = ": run as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0";
      break;
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      advice = ": another profiler is attached to this process, run without it";
      break;
    case CUPTI_ERROR_HARDWARE_BUSY:
      advice = ": another profiler is using the GPU, wait until it is done";
      break;
    default:
      break;
  }
  return fmt::format("{}: {} ({}){}", call, name, static_cast<int>(result), advice);
}

}  // namespace tandem::cupti
