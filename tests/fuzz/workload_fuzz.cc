// SPDX-License-Identifier: Apache-2.0
// The reader of workload files.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/model/workload.h"
#include "tests/fuzz/one_line.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tandem;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::reads_or_refuses_in_one_line(
      [&] { static_cast<void>(parse_workload(text, "workload own.json")); });
  return 0;
}
