// SPDX-License-Identifier: Apache-2.0
#include "bench/step/cell_facts.h"

#include "bench/step/launch_report.h"

namespace tandem::bench {

std::map<std::string, std::string> cell_facts(const Place& place, const StepOptions& options) {
  const results::Cell cell = cell_of(options, place.platform->backend());
  std::map<std::string, std::string> facts = cell.options;
  facts["strategy"] = cell.strategy;
  facts["launch"] = cell.launch;
  facts["model"] = cell.model;
  facts["batch"] = std::to_string(cell.global_batch);
  facts["devices"] = std::to_string(cell.devices);
  facts["backend"] = cell.backend;
  facts["oversubscribed"] = place.oversubscribed ? "yes" : "no";
  return facts;
}

}  // namespace tandem::bench
