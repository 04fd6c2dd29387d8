// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/cuda/gpu_choice.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "common/base/error.h"

namespace tandem::cuda {
namespace {

std::vector<int> candidates(const PlatformOptions& options, int visible) {
  std::vector<int> all = options.gpus;
  std::erase_if(all, [visible](int gpu) { return gpu < 0 || gpu >= visible; });
  if (!options.gpus.empty()) return all;
  all.resize(static_cast<std::size_t>(std::max(0, visible)));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

const char* plural(int count) { return count == 1 ? "" : "s"; }

}  // namespace

std::vector<int> gpus_to_open(const PlatformOptions& options, int visible) {
  std::vector<int> all = candidates(options, visible);
  if (all.empty()) return all;
  if (options.own_device) {
    return {all[static_cast<std::size_t>(*options.own_device) % all.size()]};
  }
  all.resize(std::min(all.size(), static_cast<std::size_t>(options.devices)));
  return all;
}

void check_gpus(const PlatformOptions& options, int visible) {
  TANDEM_CHECK(options.devices >= 1, "{} devices", options.devices);
  const std::set<int> once(options.gpus.begin(), options.gpus.end());
  if (once.size() != options.gpus.size()) {
    fail(ErrorKind::kUsage, "--gpus={}: name each GPU once", fmt::join(options.gpus, ","));
  }
  for (const int gpu : options.gpus) {
    if (gpu >= 0 && gpu < visible) continue;
    fail(ErrorKind::kUsage, "--gpus names {}, but CUDA shows {} GPU{}, counted from 0", gpu,
         visible, plural(visible));
  }
  const int gpus = static_cast<int>(candidates(options, visible).size());
  // Processes may each be shown other GPUs: whether they share one, they find out together.
  if (options.own_device || options.devices <= gpus || (options.oversubscribe && gpus > 0)) return;
  fail(ErrorKind::kUsage,
       "{} devices asked, but {} {} GPU{}: ask for {} or fewer, or pass --oversubscribe to "
       "let devices share GPUs",
       options.devices, options.gpus.empty() ? "CUDA shows" : "--gpus names", gpus, plural(gpus),
       gpus);
}

}  // namespace tandem::cuda
