// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tandem::cli {

struct ReplayOptions {
  std::string log;       // of tandem pretend --log
  std::string hardware;  // a name or file
  // Absent: slower by the factor that `tandem project` takes for such hardware.
  std::optional<double> host_speed{};
  std::vector<std::string> strategy{};  // options of step_bench: what stands beside; empty: nothing
  std::string step_bench;
};

// `tandem replay`: solves the logged steps of PyTorch on described hardware, in virtual time, and
// prints the median step and what it rests on; with `strategy` also a simulated step of Tandem's
// and by how much the two differ in what. Throws as replay::read_call_logs() and replay_step(), and
// as step_bench refuses what it cannot simulate.
void replay_log(const ReplayOptions& options);

}  // namespace tandem::cli
