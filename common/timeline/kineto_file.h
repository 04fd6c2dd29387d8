// SPDX-License-Identifier: Apache-2.0
//
// Private to the reader of PyTorch's traces: one rank's file, sorted out.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/timeline/kineto.h"
#include "common/timeline/step_view.h"

namespace tandem::timeline {

inline constexpr int kSchema = 1;

struct KinetoEvent {
  std::string name{};
  TimeRange time{};
  std::int64_t thread = 0;  // of a GPU's event its stream
  int device = kNoDevice;   // of a GPU's event
  Bytes size{};
};

// What becomes a phase: operators of a name, or the profiler's marks around them.
struct PhaseMark {
  std::string_view begins;
  std::string_view phase;
};
inline constexpr std::array kPhaseMarks{
    PhaseMark{"torch.distributed.ddp.reducer::copy_bucket_to_grad", "bucket_copy"},
    PhaseMark{"Optimizer.step", "update"},
    PhaseMark{"Optimizer.zero_grad", "zero_grad"},
    PhaseMark{"DistributedDataParallel.forward", "forward"},
    PhaseMark{"DataParallel.forward", "forward"},
    PhaseMark{"autograd::engine::evaluate_function", "backward"}};

// The profiler's marks on one timeline, the host's or a GPU's.
struct Marks {
  std::map<int, TimeRange> steps{};                 // by number, from 1
  std::map<std::string_view, TimeRanges> phases{};  // by phase

  // Takes in a mark; a name that is none is passed over.
  void take(const KinetoEvent& event);
  // Once all are taken in: backward goes from a step's first to its last evaluation.
  void finish();
};

// One rank's file, sorted out.
struct RankFile {
  std::string source{};
  int rank = 0;
  int ranks = 1;
  std::string backend{};
  Marks host{};
  std::map<int, Marks> gpus{};           // by device
  std::vector<KinetoEvent> operators{};  // of the host
  std::vector<KinetoEvent> host_collectives{};
  std::vector<KinetoEvent> kernels{};  // of GPUs, copies included
  std::vector<KinetoEvent> gpu_collectives{};

  [[nodiscard]] bool has_gpus() const { return !kernels.empty() || !gpu_collectives.empty(); }
};

// Throws the usage errors of parse_kineto() that are of one file. A file that is alone may be of
// DataParallel, whose one process has GPUs and no rank.
[[nodiscard]] RankFile read_kineto_file(const KinetoSource& source, bool is_alone);

}  // namespace tandem::timeline
