// SPDX-License-Identifier: Apache-2.0
#include "bench/job/gpu_flags.h"

#include <CLI/CLI.hpp>
#include <array>

#include "bench/driver/choices.h"
#include "bench/driver/size_list.h"
#include "common/base/error.h"
#include "common/base/units.h"

namespace tandem::bench {
namespace {

constexpr std::array kBindings{Choice<Binding>{"near", Binding::kNear},
                               Choice<Binding>{"none", Binding::kNone}};

int ordinal(const std::string& text) {
  const auto number = parse_number<int>(text);
  if (number && *number >= 0) return *number;
  fail(ErrorKind::kUsage, "--gpus: '{}' is no GPU: use CUDA's numbers from 0, such as 2,0", text);
}

}  // namespace

void declare_gpus(CLI::App& app, GpuFlags& flags) {
  app.add_option(
      "--gpus", flags.gpus,
      "cuda: the GPUs to use, by CUDA's numbers, such as 2,0; of processes, one for each "
      "on its node (default: all, in order)");
  app.add_option("--p2p", flags.p2p,
                 "cuda: on, or off: GPUs do not reach each other's memory; copies and NCCL go "
                 "through the host")
      ->capture_default_str();
  app.add_option("--bind", flags.bind,
                 "cuda: near, threads and pinned memory of each device on its share of the cores "
                 "near its GPU; or none, where the launcher and the system let them")
      ->capture_default_str();
}

void choose_gpus(const GpuFlags& flags, PlaceOptions& place) {
  if (!flags.gpus.empty()) {
    for (const std::string& part : parts_of(flags.gpus)) place.gpus.push_back(ordinal(part));
  }
  if (!choose("--p2p", flags.p2p, kOnOff)) place.peer_access = PeerAccess::kOff;
  place.binding = choose("--bind", flags.bind, kBindings);
}

}  // namespace tandem::bench
