// SPDX-License-Identifier: Apache-2.0
#include "common/model/model.h"

namespace tandem {

void charge(const Executor& on, int calls) {
  if (on.interpreter != nullptr) dispatch(*on.interpreter, on.stream, calls);
}

const ParameterLayout& Model::buffers() const {
  static const ParameterLayout none;
  return none;
}

void Model::initialise_buffers(Executor /*on*/, const TensorList& /*buffers*/) const {}

void check_runs_on(const Model& model, Backend backend) {
  if (!model.needs_images()) return;
  const std::string lack = lack_of_images(backend);
  if (lack.empty()) return;
  fail(ErrorKind::kUsage, "{}: {}: use --backend=host, or another model", model.name(), lack);
}

}  // namespace tandem
