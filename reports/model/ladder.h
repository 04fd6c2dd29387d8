// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/results/document.h"
#include "common/results/launch_record.h"
#include "common/stats/estimate.h"

namespace tandem::reports {

// The gap to explain: one point, measured or modelled.
struct GapQuestion {
  std::string model;
  std::int64_t batch = 0;  // samples per step over all devices
  int devices = 2;
  std::string backend = "auto";
  std::string input = "host";  // where a step's batch starts
  std::string precision = "fp32";
  std::string dispatch_cost;      // dispatch cost of the modelled chart; empty: none
  bool interpreter_lock = false;  // the lock in the modelled chart
  // A delay that checks the method: on device 0 of every rung with the phase, once per step; empty:
  // none.
  std::string plant;
  // The implementation whose ddp is compared with Tandem's, such as "torch-2.15.0"; empty: none.
  std::string implementation{};
  bool implementation_has_dp = false;  // compares dp too, which torch has only on GPUs
  bool finds_unused = false;           // its ddp looks for parameters without a gradient
  // A user's module that the implementation trains, "own.py:build#0123456789abcdef"; `model` then
  // is its export, a workload file. Empty: both sides train `model`.
  std::string module{};
  // Such as "adamw", or a module's own, which Tandem may lack; empty: the usual one.
  std::string optimizer{};
  // Options that name what is simulated, of all rungs: "hardware", "calibration", the interpreter's
  // costs, a given step. Empty: measured.
  std::map<std::string, std::string> simulated{};
};

// The cells that an explanation needs. The first nine, in this order, are the ladder.
enum class Rung {
  kDp,
  kKeptThreads,
  kTreeTransfers,
  kLossInReplicas,
  kAllReduce,
  kLocalInput,
  kBuckets,
  kOverlap,
  kProcesses,
  // Each of these rungs removes one cause from the top of its family.
  kTransfersAlone,
  kLossAlone,
  kBucketsAlone,
  kOverlapAlone,
  kProcessesAlone,
  // Each of these rungs puts one cause back at the bottom of its family.
  kThreadsBack,
  kTransfersBack,
  kScatterBack,
  kOneBucketBack,
  kStockDdp,
  kIndependent,
  // These rungs are modelled.
  kDpDispatch,
  kDdpDispatch,
  kDpLock,
  // These rungs are another implementation's, and `single` of both sides on one device's share of
  // the batch.
  kTheirDdp,
  kTheirDp,
  kTheirSingle,
  kOwnSingle,
};

inline constexpr std::array kLadder{
    Rung::kDp,        Rung::kKeptThreads, Rung::kTreeTransfers, Rung::kLossInReplicas,
    Rung::kAllReduce, Rung::kLocalInput,  Rung::kBuckets,       Rung::kOverlap,
    Rung::kProcesses};

struct RungCell {
  Rung rung{};
  std::string label;  // the change against the rung above, or the rung's own name
  results::Cell cell;
};

// The optimizer that Tandem's rungs name; empty where it is the usual one, or one that Tandem
// lacks.
[[nodiscard]] std::string named_optimizer(const GapQuestion& question);

// The options by which a simulated cell names what is simulated; none of any other.
[[nodiscard]] std::map<std::string, std::string> what_is_simulated(const results::Cell& cell);

// All cells that answer the question, the ladder first, each rung once.
[[nodiscard]] std::vector<RungCell> ladder_cells(const GapQuestion& question);

// A figure in seconds, or why there is none: "dp failed"; the notes have the reason of the failure.
struct Figure {
  std::optional<stats::Estimate> seconds{};
  std::string missing{};
  // From simulated launches, which repeat to the nanosecond: there is no interval to resolve it.
  bool is_projected = false;
};

// The factor of each rung's mean step in a sum.
using Weights = std::map<Rung, double>;

// The weights of the mean of `a` minus the mean of `b`.
[[nodiscard]] Weights minus(Rung a, Rung b);

// Adds factor * more.
void add(Weights& weights, const Weights& more, double factor = 1);

// One number per launch.
using OfLaunch = std::function<double(const results::LaunchRecord&)>;

// A cell's launches in a sum, and the weight of their mean.
struct WeightedLaunches {
  double weight = 1;
  const std::vector<const results::LaunchRecord*>& launches;
};

// The sum over cells of weight * mean of `value` over the launches, none of which is empty.
[[nodiscard]] stats::Estimate sum_over(const std::vector<WeightedLaunches>& cells,
                                       const OfLaunch& value);

// The mean of `value` over the launches of one cell minus that over the launches of another.
[[nodiscard]] stats::Estimate difference(const std::vector<const results::LaunchRecord*>& of,
                                         const std::vector<const results::LaunchRecord*>& from,
                                         const OfLaunch& value);

// The launches of a document that fit the question's rungs. Points into the document.
class MeasuredLadder {
 public:
  struct Launches {
    RungCell rung;
    std::vector<const results::LaunchRecord*> measured{};
    int failed = 0;       // failed launches; the measured ones may be the lucky ones
    int disturbed = 0;    // how many of the measured ones others disturbed
    std::string problem;  // why no launch measured: "failed", "skipped" or "not run"
  };

  MeasuredLadder(const results::Document& document, const GapQuestion& question);

  [[nodiscard]] const std::vector<Launches>& rungs() const { return rungs_; }
  // The rung's launches; null where the question does not need the rung.
  [[nodiscard]] const Launches* find(Rung rung) const;
  [[nodiscard]] bool has(Rung rung) const;

  // The sum of the rungs' mean steps; rungs with weight 0 need no measurement.
  [[nodiscard]] Figure sum(const Weights& weights) const;

  // The mean of a value over the launches of one rung minus that over the launches of another.
  [[nodiscard]] Figure difference(Rung above, Rung below, const OfLaunch& value) const;

  [[nodiscard]] std::vector<double> values(Rung rung, const OfLaunch& value) const;
  // Whether the rungs are simulated.
  [[nodiscard]] bool is_projected() const { return is_projected_; }

 private:
  std::vector<Launches> rungs_;
  bool is_projected_;
};

// The mean of a launch's samples, seconds.
[[nodiscard]] double mean_step(const results::LaunchRecord& record);

}  // namespace tandem::reports
