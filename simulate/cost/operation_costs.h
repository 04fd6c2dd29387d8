// SPDX-License-Identifier: Apache-2.0
//
// What an operation costs in a simulation: its measured time, a time between measured ones or a
// little beyond them, or where there is a description the times of the kernels that PyTorch
// launches for the operation.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/units.h"
#include "common/kernels/listed_kernel.h"
#include "common/kernels/operation_work.h"
#include "simulate/catalogue/description.h"
#include "simulate/cost/calibration.h"

namespace tandem {

// What the time of an operation rests on.
enum class CostBasis {
  kMeasured,
  kInterpolated,  // between two measured sizes
  kScaled,        // beyond the measured sizes, by no more than a factor of four
  kDescribed,     // the times of PyTorch's kernels on the described GPU
  kPlain,         // described, of a kernel that multiplies without tensor cores
};

struct OperationCost {
  std::vector<Nanoseconds> times{};  // by order of occurrence in a step, in turn; one or more
  CostBasis basis = CostBasis::kDescribed;
};

// An operation whose cost is asked for.
struct AskedOperation {
  std::string_view name;   // "linear_forward"
  std::string_view key{};  // the name with the shape, but for the batch
  OperationWork work;
  std::vector<ListedKernel> kernels{};  // for a description
};

// Times by size, in ascending order of size; sizes are FLOPs, or bytes of operations without any.
struct SizedTimes {
  double size = 0;
  std::vector<double> seconds{};  // by order of occurrence
};

// The seconds at `size` by interpolation between the nearest two of `curve`, both in logarithms;
// beyond its ends by no more than a factor of four, with the slope of the last two but neither
// falling nor steeper than proportional. Nothing farther beyond, or without times.
struct SecondsAtSize {
  std::vector<double> seconds{};
  CostBasis basis = CostBasis::kMeasured;
};
[[nodiscard]] std::optional<SecondsAtSize> seconds_at(const std::vector<SizedTimes>& curve,
                                                      double size);

// The steps for which a calibration is asked.
struct CalibratedSteps {
  std::string model;        // by the name that the calibration has
  std::int64_t batch = 0;   // on a device; 0: any
  bool has_others = false;  // the machine's other devices are at work at the same time
};

// A collective's time, and the number of ranks with which it was measured.
struct CollectiveCost {
  Nanoseconds time{0};
  int ranks = 0;
};

// The measured times as a curve: those beside others where these are at work and it makes a
// difference on the machine. Of equal sizes in steps of several batches, such as an update's, the
// times are those at the nearest batch.
[[nodiscard]] std::vector<SizedTimes> curve_of(const std::vector<MeasuredPoint>& points,
                                               const CalibratedSteps& steps);

// The costs of operations of one model on one machine.
class OperationCosts {
 public:
  // Costs by the description alone.
  explicit OperationCosts(const GpuDescription& described) : described_(described) {}
  // Costs by the calibration, and of operations that it has not by `described` where it is there.
  // Throws a usage error where the calibration has no such model.
  OperationCosts(std::shared_ptr<const MachineCalibration> calibration, CalibratedSteps steps,
                 std::optional<GpuDescription> described = {});

  // Throws a usage error that names the operation if it is neither measured nor described.
  [[nodiscard]] OperationCost cost_of(const AskedOperation& asked) const;

  [[nodiscard]] bool is_calibrated() const { return calibration_ != nullptr; }
  // Whether operations that were not measured have the description's costs.
  [[nodiscard]] bool is_described() const { return described_.has_value(); }

  // Multiplies the times of forward, loss and backward, as whoever enqueues them asks.
  void scale_by(double factor) { scale_ = factor; }
  [[nodiscard]] double scale() const { return scale_; }

  // What was measured of a collective (MeasuredCollective has the meaning): between measured sizes,
  // and beyond them in proportion; of the number of ranks that is nearest. Absent where none was
  // measured, and on a machine that is described.
  [[nodiscard]] std::optional<CollectiveCost> cost_of_collective(std::string_view name, Bytes size,
                                                                 int ranks) const;

 private:
  struct Curves {
    std::map<std::string, std::vector<SizedTimes>, std::less<>> by_key;
  };
  [[nodiscard]] static const std::vector<SizedTimes>* find(const Curves& curves,
                                                           std::string_view key);
  [[nodiscard]] std::optional<SecondsAtSize> measured(const AskedOperation& asked) const;
  [[noreturn]] void refuse(const AskedOperation& asked) const;

  std::shared_ptr<const MachineCalibration> calibration_{};  // null: none; shared with who read it
  CalibratedSteps steps_{};
  std::optional<GpuDescription> described_;
  Curves of_model_{};
  Curves of_sizes_{};
  double scale_ = 1;
};

}  // namespace tandem
