// SPDX-License-Identifier: Apache-2.0
// Writes a document with every field that a launch can have, for schema_test.py.
#include "common/results/document.h"
#include "tests/results/samples.h"

int main(int, char** arguments) {
  using namespace tandem::results;
  Document document{.sweep = sample_sweep(), .launches = {}};
  for (const Status status : {Status::kOk, Status::kFailed}) {
    document.launches.push_back(full_record());
    document.launches.back().status = status;
  }
  document.launches.back().step_seconds.clear();
  document.launches.back().launch_index = 1;
  write_document(arguments[1], document);
  return 0;
}
