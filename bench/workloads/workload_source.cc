// SPDX-License-Identifier: Apache-2.0
#include "bench/workloads/workload_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>

#include "bench/google_benchmark.h"
#include "bench/workloads/calibration.h"
#include "bench/workloads/measured_workload.h"
#include "common/base/error.h"
#include "common/base/pinned_file.h"
#include "common/base/units.h"
#include "common/comm/agreement.h"
#include "common/model/replay.h"
#include "common/model/replay_plan.h"
#include "common/model/workload_file.h"
#include "common/model/zoo.h"
#include "common/parallel/chunk_rule.h"

namespace tandem::bench {
namespace {

void check_precision(const Workload& workload, Precision precision) {
  if (!workload.timing || workload.timing->precision == name_of(precision)) return;
  fail(ErrorKind::kUsage,
       "workload '{}' was measured in {}, which says nothing of {}: use --precision={}, or measure "
       "it anew",
       workload.name, workload.timing->precision, name_of(precision), workload.timing->precision);
}

// Every size of a share that a device may get.
void check_shares(const Workload& workload, const StepOptions& options) {
  for (const Piece& piece :
       chunk_batch(options.variant.training.global_batch, options.place.devices)) {
    for (const Piece& part : chunk_batch(piece.count, options.variant.reducer.micro_batches)) {
      check_batch(workload, part.count);
    }
  }
}

std::string summary_of(const Calibration& calibration) {
  std::string text;
  for (const CalibratedBatch& batch : calibration.batches) {
    text += fmt::format("batch {}: forward and backward take {}, their replay {} ({:+.1f} %)\n",
                        batch.batch, tandem::to_string(Seconds(batch.wanted_seconds)),
                        tandem::to_string(Seconds(batch.replayed_seconds)),
                        100 * (batch.replayed_seconds / batch.wanted_seconds - 1));
  }
  return text;
}

Workload shared_by_rank_0(Bootstrap& bootstrap, Place& place, const Workload& workload,
                          Precision precision) {
  std::string text;
  attempt_together(bootstrap, [&] {
    if (bootstrap.rank() != 0) return;
    std::cerr << fmt::format("calibrating '{}'\n", workload.name) << std::flush;
    const Calibration found = calibrate(*place.platform, *place.device, workload, precision);
    std::cerr << summary_of(found) << std::flush;
    text = tandem::to_text(found.workload);
  });
  return parse_workload(broadcast(bootstrap, text, 0), "calibrated workload");
}

}  // namespace

std::string with_checksum(const std::string& model) { return pinned_name(model, "--model"); }

std::optional<Workload> read_workload(const std::string& model) {
  const auto file = pinned_file(model);
  if (!file) return std::nullopt;
  return parse_workload(text_of(*file, "--model"), "workload " + file->path);
}

void check_model(const StepOptions& options) {
  const auto workload = read_workload(options.model);
  if (!workload) {
    static_cast<void>(make_model(options.model));
    return;
  }
  check_precision(*workload, options.variant.training.precision);
  if (options.workload_file.empty()) check_shares(*workload, options);
}

std::unique_ptr<Model> make_model_for(Bootstrap& bootstrap, Place& place,
                                      const StepOptions& options) {
  auto workload = read_workload(options.model);
  if (!workload) return make_model(options.model);
  if (workload->timing && !workload->is_calibrated()) {
    workload = shared_by_rank_0(bootstrap, place, *workload, options.variant.training.precision);
  }
  return std::make_unique<Replay>(*workload);
}

void write_workload(Place& place, const StepOptions& options) {
  check_writable(options.workload_file, "--write-workload");
  const Precision precision = options.variant.training.precision;
  auto workload = read_workload(options.model);
  if (workload && !workload->timing) {
    fail(ErrorKind::kUsage,
         "--write-workload: {} gives its layers by their FLOPs, which need no calibration: leave "
         "it out",
         options.model);
  }
  if (!workload) {
    const auto model = make_model(options.model);
    check_runs_on(*model, place.platform->backend());
    workload =
        measure_workload(*place.platform, *place.device, *model,
                         batches_to_measure(options.variant.training.global_batch), precision);
  }
  const Calibration found = calibrate(*place.platform, *place.device, *workload, precision);
  std::ofstream file(options.workload_file, std::ios::binary);
  file << tandem::to_text(found.workload);
  file.close();
  if (!file) {
    fail(ErrorKind::kFailure, "--write-workload: writing {} failed; is the disk full?",
         options.workload_file);
  }
  std::cout << fmt::format("{}: {} layers, {} tensors\n{}", options.workload_file,
                           found.workload.layers.size(), found.workload.tensors.size(),
                           summary_of(found))
            << std::flush;
}

}  // namespace tandem::bench
