// SPDX-License-Identifier: Apache-2.0
// The reader of journals: a torn end is dropped, and each launch that it took can be written again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "common/results/journal.h"
#include "common/results/launch_record.h"
#include "tests/fuzz/one_line.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tandem;
  std::istringstream text(std::string(reinterpret_cast<const char*>(data), size));
  fuzz::reads_or_refuses_in_one_line([&] {
    const auto journal = results::read_journal(text, "journal.jsonl");
    if (!journal) return;
    if (journal->whole_bytes > size) std::abort();
    for (const results::LaunchRecord& record : journal->launches) {
      (void)results::parse_record(results::to_json_line(record), "text");
    }
  });
  return 0;
}
