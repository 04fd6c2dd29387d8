// SPDX-License-Identifier: Apache-2.0
//
// A machine's costs beside operations: copies, threads, and collectives with the time of what a
// device computes meanwhile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/kernels/precision.h"
#include "common/runtime/platform.h"
#include "simulate/cost/calibration.h"

namespace tandem::bench {

// A way of copies: a small copy's time, and what large ones have beyond it.
struct CopyCosts {
  double latency = 0;    // seconds
  double bandwidth = 0;  // bytes per second
};

// Copies from pinned host memory to the device.
[[nodiscard]] CopyCosts time_host_copies(Device& device);

// Copies from one device to another, on a stream of the second.
[[nodiscard]] CopyCosts time_peer_copies(Device& from, Device& to);

// The seconds from the end of one device's work until another's stream goes on that waits for it.
[[nodiscard]] double time_stream_wake(Device& one, Device& other);

// The cost of the host's threads, in seconds.
struct ThreadCosts {
  double wake = 0;   // until a parked thread goes on
  double start = 0;  // until a new thread runs
};
[[nodiscard]] ThreadCosts time_threads(Platform& platform);

// All-reduces and broadcasts among the platform's devices, by bytes, each rank a thread: on cores
// what a rank's core does in one, handshakes included; on GPUs the time of one.
[[nodiscard]] std::vector<MeasuredCollective> time_collectives(Platform& platform);

// How much longer square products take beside all-reduces among the platform's devices, which are
// GPUs, as a share of their time alone; the most of any device, and never below 0.
[[nodiscard]] double measure_contention_share(Platform& platform, Precision precision);

// A machine's measured figures, for its description.
struct MachineFigures {
  std::string name;    // of the machine
  std::string device;  // of a device
  int multiprocessors = 1;
  Bytes memory;                 // of a device
  double memory_bandwidth = 0;  // bytes per second, read and written
  double flops = 0;             // FLOP per second of large products
  std::string precision;        // of these products: the description's key
  double least_time = 0;        // seconds of the smallest operation
  CopyCosts host_copies{};
  std::optional<CopyCosts> peer_copies{};  // absent: this machine has one device
  int devices = 1;                         // that this machine has
  double launch = 0;                       // seconds
  std::optional<double> stream_wake{};     // seconds; absent as above
  std::optional<double> contention{};      // share of the time alone; absent of cores, and as above
  std::string launch_source;
  ThreadCosts threads{};
};

// The description of these figures.
[[nodiscard]] HardwareDescription description_of(const MachineFigures& figures);

}  // namespace tandem::bench
