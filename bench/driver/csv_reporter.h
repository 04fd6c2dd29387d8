// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <vector>

namespace tandem::bench {

// The columns of Google Benchmark's CSV. The library's own reporter takes the first entry's
// counters for those of all entries, and ends the process at an entry that has another counter;
// here the columns are all counters that any entry has, so that lines are written once the last
// entry is known.
class CsvReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

 private:
  std::vector<Run> runs_;
};

}  // namespace tandem::bench
