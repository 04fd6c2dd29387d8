// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/results/document.h"
#include "common/stats/estimate.h"
#include "reports/ladder.h"

namespace tandem::reports {

// A figure in seconds, or why there is none: "dp failed"; the reason itself is among the notes.
struct Figure {
  std::optional<stats::Estimate> seconds;
  std::string missing;
};

// What a sum of rungs' mean steps is made of; each rung once.
using Weights = std::map<Rung, double>;

// The mean of `a` minus that of `b`.
[[nodiscard]] Weights minus(Rung a, Rung b);

// Adds factor * more.
void add(Weights& weights, const Weights& more, double factor = 1);

// The launches of a document that fit the question's rungs. Points into the document.
class MeasuredLadder {
 public:
  struct Launches {
    RungCell rung;
    std::vector<const results::LaunchRecord*> measured;
    int failed = 0;       // of those that have been tried; what is left may be the lucky ones
    std::string problem;  // why there is none: "failed", "skipped" or "not run"
  };

  MeasuredLadder(const results::Document& document, const GapQuestion& question);

  [[nodiscard]] const std::vector<Launches>& rungs() const { return rungs_; }
  // Null where the question does not need it.
  [[nodiscard]] const Launches* find(Rung rung) const;
  [[nodiscard]] bool has(Rung rung) const;

  // Sum of the rungs' mean steps; those that cancel out need not be measured.
  [[nodiscard]] Figure sum(const Weights& weights) const;

  // One number per launch.
  using Value = std::function<double(const results::LaunchRecord&)>;
  [[nodiscard]] std::vector<double> values(Rung rung, const Value& value) const;

 private:
  std::vector<Launches> rungs_;
};

// Mean of a launch's samples, seconds.
[[nodiscard]] double mean_step(const results::LaunchRecord& record);

}  // namespace tandem::reports
