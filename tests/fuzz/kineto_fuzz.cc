// SPDX-License-Identifier: Apache-2.0
// The reader of the traces of PyTorch's profiler: what it took has a summary.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/timeline/kineto.h"
#include "common/timeline/summary.h"
#include "tests/fuzz/one_line.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tandem;
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::reads_or_refuses_in_one_line([&] {
    const timeline::Trace trace = timeline::parse_kineto({{"rank0.json", text}});
    static_cast<void>(timeline::to_text(trace, timeline::summary_of(trace)));
  });
  return 0;
}
