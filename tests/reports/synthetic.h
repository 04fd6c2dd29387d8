// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/results/document.h"

namespace tandem::reports {

// Documents with known times, so that every figure of a report can be worked out by hand.
class Synthetic {
 public:
  Synthetic() {
    document_.sweep.name = "test";
    document_.sweep.context.date = "2024-02-03T04:05:06+00:00";
  }

  // One launch per time; three equal samples each.
  Synthetic& add(const std::string& strategy, int devices, const std::vector<double>& seconds,
                 std::int64_t batch = 64) {
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      results::LaunchRecord record = launch(strategy, devices, batch);
      record.launch_index = static_cast<int>(i);
      record.step_seconds.assign(3, seconds[i]);
      document_.launches.push_back(record);
    }
    return *this;
  }

  Synthetic& add_without_time(const std::string& strategy, int devices, results::Status status,
                              const std::string& reason) {
    results::LaunchRecord record = launch(strategy, devices, 64);
    record.cell.backend = "auto";
    record.status = status;
    record.reason = reason;
    document_.launches.push_back(record);
    return *this;
  }

  [[nodiscard]] results::Document& document() { return document_; }

 private:
  static results::LaunchRecord launch(const std::string& strategy, int devices,
                                      std::int64_t batch) {
    results::LaunchRecord record;
    record.cell = {.strategy = strategy,
                   .launch = strategy.starts_with("ddp") ? "processes" : "threads",
                   .model = "mlp-small",
                   .backend = "host",
                   .devices = devices,
                   .global_batch = batch,
                   .options = {}};
    record.machine.host_name = "node";
    record.machine.cpu_model = "Test CPU";
    record.machine.cores = 2;
    return record;
  }

  results::Document document_;
};

}  // namespace tandem::reports
