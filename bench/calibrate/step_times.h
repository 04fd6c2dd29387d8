// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/model/model.h"
#include "common/parallel/strategy.h"
#include "common/runtime/platform.h"
#include "simulate/cost/calibration.h"

namespace tandem::bench {

// The device on which steps are timed, and what is known of it beforehand.
struct TimedDevice {
  Platform& platform;
  Device& device;
  // The copy that brings a batch to the device, as a simulation has it.
  double copy_latency = 0;  // seconds
  double copy_bandwidth = 0;
  // The devices that share caches and memory with this one, this one's twin first; null: none do.
  Platform* neighbours = nullptr;
};

// The steps of `single` at one batch.
struct CalibratedStep {
  MeasuredModel measured{};    // the batch, and its operations by key
  double enqueue_seconds = 0;  // what a step costs the calling thread until all is enqueued
  int calls = 0;               // of a step: operations, copies and events
};

// Times each operation in the steps of `single` by events around it, in every other step. Events
// cost time themselves, which small operations would show: the steps between go without events, and
// all times are scaled so that they, with the copies of the batch, add up to the median of those
// steps. `options` has the batch. If the model fits on neighbouring cores, each operation is timed
// a second time while every neighbour runs the same steps.
[[nodiscard]] CalibratedStep time_step(const TimedDevice& on, const Model& model,
                                       const TrainingOptions& options);

}  // namespace tandem::bench
