// SPDX-License-Identifier: Apache-2.0
// Writes two documents that differ by a known factor and in their number of samples, for
// compare_py_test.sh.
#include <cstddef>
#include <string>

#include "common/results/document.h"
#include "tests/results/samples.h"

namespace {

void write(const std::string& path, double factor, std::size_t samples) {
  using namespace tandem::results;
  Document document{.sweep = sample_sweep(), .launches = {}};
  for (int launch = 0; launch < 10; ++launch) {
    for (const char* strategy : {"dp", "ddp"}) {
      LaunchRecord record = full_record();
      record.cell.strategy = strategy;
      record.launch_index = launch;
      record.mode = "synchronous";
      const double step = factor * (0.010 + 0.0001 * launch);
      record.step_seconds.assign(samples, step);
      document.launches.push_back(record);
    }
  }
  LaunchRecord failed = full_record();
  failed.cell.strategy = "single";
  failed.status = Status::kFailed;
  failed.step_seconds.clear();
  document.launches.push_back(failed);
  write_document(path, document);
}

}  // namespace

int main(int, char** arguments) {
  write(arguments[1], 1, 3);
  write(arguments[2], 2, 7);
  return 0;
}
