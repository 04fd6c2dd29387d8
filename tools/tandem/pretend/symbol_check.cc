// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/pretend/symbol_check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "common/base/error.h"
#include "common/base/text.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTriedVersions =
    "2.5.1 (CUDA 12.4), 2.9.1 (CUDA 12.8) and 2.15.0 (CUDA 13.2)";

// Libraries whose functions carry the soname as version, so that it is told what comes from them.
constexpr auto kVersioned = std::to_array<std::string_view>(
    {"libcudart.so.", "libcublas.so.", "libcublasLt.so.", "libcudnn.so."});

bool is_replaced(std::string_view name) {
  return std::ranges::any_of(kVersioned,
                             [&](std::string_view stem) { return name.starts_with(stem); });
}

// Functions of NCCL and of the driver carry no version: they are known by the beginning of their
// names, the driver's in libraries that name the driver alone.
std::string_view library_by_name(const SharedLibrary& user, std::string_view name) {
  if (name.starts_with("nccl")) return "libnccl.so.2";
  const bool names_driver = std::ranges::find(user.needed, "libcuda.so.1") != user.needed.end();
  const bool is_driver_name = name.size() > 2 && name.starts_with("cu") && name[2] >= 'A' &&
                              name[2] <= 'Z' && !name.starts_with("cuFile");
  return names_driver && is_driver_name ? "libcuda.so.1" : "";
}

std::string_view library_of(const SharedLibrary& user, const DynamicSymbol& symbol) {
  if (is_replaced(symbol.version)) return symbol.version;
  return symbol.version.empty() ? library_by_name(user, symbol.name) : "";
}

using Known = std::set<std::pair<std::string, std::string>>;  // name, version

Known known_symbols(const std::vector<SharedLibrary>& pretended) {
  Known known;
  for (const SharedLibrary& library : pretended) {
    for (const DynamicSymbol& symbol : library.exported) known.emplace(symbol.name, symbol.version);
  }
  return known;
}

// torch's own libraries, and those of CUDA that stay as they are and call the replaced ones.
std::vector<fs::path> users_of(const TorchWheel& wheel) {
  std::vector<fs::path> found;
  const auto add = [&](const fs::path& folder) {
    std::error_code error;  // a wheel of another kind has no such folder
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      const std::string name = it->path().filename().string();
      if (name.find(".so") != std::string::npos && !is_replaced(name)) found.push_back(it->path());
    }
  };
  add(wheel.folder / "lib");
  std::error_code error;
  for (fs::directory_iterator it(wheel.folder.parent_path() / "nvidia", error), end;
       !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name != "cudnn" && name != "nccl") add(it->path() / "lib");
  }
  std::ranges::sort(found);
  return found;
}

bool needs_replaced(const SharedLibrary& user) {
  return std::ranges::any_of(user.needed, [](const std::string& name) {
    return is_replaced(name) || name == "libnccl.so.2" || name == "libcuda.so.1";
  });
}

std::vector<SharedLibrary> read_pretended(const fs::path& folder, int cuda) {
  std::vector<SharedLibrary> pretended;
  for (const std::string& soname : pretended_sonames(cuda)) {
    pretended.push_back(read_shared_library(folder / soname));
  }
  return pretended;
}

std::string some_of(const std::set<std::string>& missing) {
  constexpr std::ptrdiff_t kShown = 5;
  std::vector<std::string> shown(missing.begin(),
                                 std::next(missing.begin(), std::min(kShown, std::ssize(missing))));
  if (std::ssize(missing) > kShown) shown.emplace_back("...");
  return fmt::format("{}", fmt::join(shown, ", "));
}

}  // namespace

std::vector<std::string> pretended_sonames(int cuda_major) {
  return {fmt::format("libcudart.so.{}", cuda_major),
          fmt::format("libcublas.so.{}", cuda_major),
          fmt::format("libcublasLt.so.{}", cuda_major),
          "libcudnn.so.9",
          "libnccl.so.2",
          "libcuda.so.1",
          "libnvidia-ml.so.1"};
}

std::vector<std::string> missing_symbols(const SharedLibrary& user,
                                         const std::vector<SharedLibrary>& pretended) {
  const Known known = known_symbols(pretended);
  std::vector<std::string> missing;
  for (const DynamicSymbol& symbol : user.imported) {
    const std::string_view library = library_of(user, symbol);
    if (!library.empty() && !known.contains({symbol.name, symbol.version})) {
      missing.push_back(fmt::format("{} ({})", symbol.name, library));
    }
  }
  return missing;
}

void check_symbols(const TorchWheel& wheel, const fs::path& folder) {
  const std::vector<SharedLibrary> pretended = read_pretended(folder, cuda_major(wheel));
  std::set<std::string> missing;
  for (const fs::path& path : users_of(wheel)) {
    const SharedLibrary user = read_shared_library(path);
    if (!needs_replaced(user)) continue;
    for (std::string& symbol : missing_symbols(user, pretended)) missing.insert(std::move(symbol));
  }
  if (missing.empty()) return;
  fail(
      ErrorKind::kUsage,
      "pretending GPUs for torch {} of {}: it needs {} that Tandem does not know: {}; torch {} are "
      "known to work, and pretend/README.md says how to add another one",
      wheel.version, wheel.python, count_text(std::ssize(missing), "function"), some_of(missing),
      kTriedVersions);
}

}  // namespace tandem::cli
