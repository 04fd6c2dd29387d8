// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "common/base/units.h"

namespace tandem::cli {

// What this machine does besides measuring: CPUs that are busy, and pages on their way to a disk.
struct OtherWork {
  double busy_cpus = 0;
  Bytes unwritten{};

  // Work that takes time from no launch: less than a quarter of a CPU, and little to write.
  [[nodiscard]] bool is_little() const;
  [[nodiscard]] std::string text() const;  // "1.8 CPUs are busy, 310 MiB wait to be written"
};

// Watches for `time`; what the system's files below `root` do not tell is 0.
[[nodiscard]] OtherWork watch_other_work(const std::filesystem::path& root, Nanoseconds time);

// Watches until there is little other work, `is_over` is true, or `most` has passed; `say` gets a
// line where there is something to wait for, and where it did not end. A build leaves such work
// behind.
void wait_for_other_work(Nanoseconds most, const std::function<OtherWork()>& watch,
                         const std::function<bool()>& is_over,
                         const std::function<void(const std::string&)>& say);

}  // namespace tandem::cli
