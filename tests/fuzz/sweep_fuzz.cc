// SPDX-License-Identifier: Apache-2.0
// The reader of sweep files: what it takes has cells or a reason why not, and its definition is
// read back as itself.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/one_line.h"
#include "tools/tandem/sweep/plan.h"
#include "tools/tandem/sweep/sweep.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tandem;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::reads_or_refuses_in_one_line([&] {
    constexpr int kDevices = 4;
    constexpr std::size_t kFew = 200;  // more take long, and are all alike
    const cli::Sweep sweep = cli::parse_sweep(text, "sweep.json", {.all = kDevices});
    (void)cli::definition_of(sweep, {.backend = "auto", .oversubscribe = false});
    const bool is_small = sweep.workloads.size() * sweep.strategies.size() <= kFew;
    if (is_small && sweep.devices.size() <= kFew) (void)cli::plan_cells(sweep, "auto");
  });
  return 0;
}
