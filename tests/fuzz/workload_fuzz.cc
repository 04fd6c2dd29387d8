// SPDX-License-Identifier: Apache-2.0
// The reader of workload files: what it took is the same after being written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/model/workload_file.h"
#include "tests/fuzz/one_line.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tandem;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::reads_or_refuses_in_one_line([&] {
    const Workload workload = parse_workload(text, "workload own.json");
    static_cast<void>(workload.is_calibrated());
    const std::string written = to_text(workload);
    if (to_text(parse_workload(written, "again")) != written) std::abort();
  });
  return 0;
}
