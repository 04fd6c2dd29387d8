// SPDX-License-Identifier: Apache-2.0
// The reader of results documents: what it took is the same after being written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/results/document.h"
#include "tests/fuzz/one_line.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tandem;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::reads_or_refuses_in_one_line([&] {
    const std::string written =
        results::to_json_text(results::parse_document(text, "results.json"));
    if (results::to_json_text(results::parse_document(written, "again")) != written) std::abort();
  });
  return 0;
}
