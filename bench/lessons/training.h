// SPDX-License-Identifier: Apache-2.0
//
// What claims about numbers share: training in one way or another, reading back what was trained,
// comparing. More devices than cores change no numbers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/lessons/lessons.h"
#include "common/model/tensor_values.h"
#include "common/parallel/strategy.h"
#include "common/runtime/platform.h"
#include "dp/data_parallel.h"

namespace tandem::bench {

// Sums in another order differ by rounding; a wrong gradient differs by far more.
inline constexpr double kRounding = 1e-4;
inline constexpr int kDevices = 4;
inline constexpr int kSteps = 5;

struct Trained {
  TensorValues weights;
  TensorValues gradients;  // of the last step

  bool operator==(const Trained&) const = default;
};

[[nodiscard]] Trained train(Platform& platform, Strategy& strategy, int steps = kSteps);

// Trains on device 0 without a wrapper.
[[nodiscard]] Trained train_single(Platform& platform, const Model& model,
                                   const TrainingOptions& options, int steps = kSteps);

[[nodiscard]] Trained train_dp(Platform& platform, const Model& model,
                               const TrainingOptions& options, int steps = kSteps,
                               const dp::DataParallelOptions& how = {});

// How the model `linear` is trained: SGD at 0.01, without momentum.
[[nodiscard]] TrainingOptions plain_sgd(std::int64_t batch);

// A DataParallel on devices of its own that has trained some steps.
struct TrainedDp {
  TrainedDp(const Classroom& room, int devices, const char* name, const TrainingOptions& options,
            int steps = 1, const dp::DataParallelOptions& how = {});

  // The samples that each replica got, such as 3, 3, 3, 1.
  [[nodiscard]] std::vector<std::int64_t> samples();

  std::unique_ptr<Platform> platform;
  std::unique_ptr<Model> model;
  dp::DataParallel strategy;
};

// A training by DataParallel, held against that of one device.
struct Case {
  std::int64_t batch = 0;
  int devices = kDevices;
  const char* model = "mlp-tiny";
  OptimizerKind optimizer = OptimizerKind::kSgd;
  std::vector<std::int64_t> lengths{};  // of sequences of 10 features, padded with zeros
  dp::DataParallelOptions how{};
};

// Whether the case trains as one device does, which is added to the evidence.
[[nodiscard]] bool trains_as_one(Classroom& room, const Case& each,
                                 std::vector<std::string>& evidence);

}  // namespace tandem::bench
