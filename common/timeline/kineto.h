// SPDX-License-Identifier: Apache-2.0
//
// Traces in the form that PyTorch's profiler (Kineto) writes and its readers, such as
// HolisticTraceAnalysis, load: a file per rank (torch/profiler, export_chrome_trace; the fields are
// those of torch 2.9.1's files, schemaVersion 1). docs/method/torch-traces.md says what becomes of
// what.
#pragma once

#include <string>
#include <vector>

#include "common/timeline/timeline.h"

namespace tandem::timeline {

struct KinetoFile {
  int rank = 0;
  std::string text{};
};

// A file per rank, those of equal simulated work included. Throws a usage error that begins with
// `source` where the trace has neither kernels that GPUs told of nor simulated devices.
[[nodiscard]] std::vector<KinetoFile> to_kineto(const Trace& trace, const std::string& source);

struct KinetoSource {
  std::string name{};  // the file's path, for errors
  std::string text{};
};

// The trace that the files of all ranks of one run tell: steps from the profiler's own marks
// ProfilerStep#N, per device. Waits are what no operator or kernel covers: `exposed_comm` while a
// collective runs, else `idle`. Throws a usage error of one line for a file of another kind, of a
// schema version other than 1, without steps or without a rank, and for files that are not of one
// run: of different numbers of ranks, of the same rank, of other times, or not of all ranks.
[[nodiscard]] Trace parse_kineto(const std::vector<KinetoSource>& sources);

}  // namespace tandem::timeline
