// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/results/document.h"
#include "common/stats/estimate.h"
#include "reports/model/ladder.h"

namespace tandem::reports {

// A figure in seconds, or why there is none: "dp failed"; the notes have the reason of the failure.
struct Figure {
  std::optional<stats::Estimate> seconds;
  std::string missing;
};

// The factor of each rung's mean step in a sum.
using Weights = std::map<Rung, double>;

// The weights of the mean of `a` minus the mean of `b`.
[[nodiscard]] Weights minus(Rung a, Rung b);

// Adds factor * more.
void add(Weights& weights, const Weights& more, double factor = 1);

// The launches of a document that fit the question's rungs. Points into the document.
class MeasuredLadder {
 public:
  struct Launches {
    RungCell rung;
    std::vector<const results::LaunchRecord*> measured;
    int failed = 0;       // failed launches; the measured ones may be the lucky ones
    std::string problem;  // why no launch measured: "failed", "skipped" or "not run"
  };

  MeasuredLadder(const results::Document& document, const GapQuestion& question);

  [[nodiscard]] const std::vector<Launches>& rungs() const { return rungs_; }
  // The rung's launches; null where the question does not need the rung.
  [[nodiscard]] const Launches* find(Rung rung) const;
  [[nodiscard]] bool has(Rung rung) const;

  // The sum of the rungs' mean steps; rungs with weight 0 need no measurement.
  [[nodiscard]] Figure sum(const Weights& weights) const;

  // One number per launch.
  using Value = std::function<double(const results::LaunchRecord&)>;
  [[nodiscard]] std::vector<double> values(Rung rung, const Value& value) const;

 private:
  std::vector<Launches> rungs_;
};

// The mean of a launch's samples, seconds.
[[nodiscard]] double mean_step(const results::LaunchRecord& record);

}  // namespace tandem::reports
