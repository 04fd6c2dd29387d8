// SPDX-License-Identifier: Apache-2.0
#include "bench/step/workload_source.h"

#include "common/base/checksummed_file.h"
#include "common/base/error.h"
#include "common/model/replay.h"
#include "common/model/workload.h"
#include "common/model/zoo.h"

namespace tandem::bench {

std::optional<Workload> read_workload(const std::string& model) {
  const auto file = checksummed_file(model);
  if (!file) return std::nullopt;
  return parse_workload(text_of(*file, "--model"), "workload " + file->path);
}

std::unique_ptr<Model> make_model_for(const StepOptions& options) {
  const auto workload = read_workload(options.model);
  std::unique_ptr<Model> model;
  if (workload) {
    model = std::make_unique<Replay>(*workload);
  } else {
    model = make_model(options.model);
  }
  if (!model->needs_images() && options.variant.training.images != ImageOptions{}) {
    fail(ErrorKind::kUsage,
         "--channels-last and --conv-fp32 are of models of images, and {} is none: leave them out",
         model->name());
  }
  return model;
}

}  // namespace tandem::bench
