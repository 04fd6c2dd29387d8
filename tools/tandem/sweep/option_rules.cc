// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/sweep/option_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

namespace tandem::cli {
namespace {

constexpr std::array<std::string_view, 43> kOptions{"accumulate",
                                                    "bind",
                                                    "broadcast",
                                                    "bucket-mb",
                                                    "check-numerics",
                                                    "check-order",
                                                    "comm",
                                                    "comm-timeout",
                                                    "compress",
                                                    "core-gflops",
                                                    "cuda-graph",
                                                    "cycle-time",
                                                    "device-ids",
                                                    "device-memory",
                                                    "dispatch-cost",
                                                    "fault",
                                                    "first-bucket-mb",
                                                    "free-running",
                                                    "fusion-mb",
                                                    "gpus",
                                                    "grads",
                                                    "input",
                                                    "interpreter-lock",
                                                    "join",
                                                    "link",
                                                    "loss",
                                                    "optimizer",
                                                    "output-device",
                                                    "overlap",
                                                    "p2p",
                                                    "peak-gflops",
                                                    "phases",
                                                    "plant",
                                                    "powersgd-start",
                                                    "precision",
                                                    "reduce",
                                                    "reducer",
                                                    "replicate",
                                                    "seed",
                                                    "static-graph",
                                                    "threads",
                                                    "warmup-steps",
                                                    "warmup-time"};

using Names = std::vector<std::string_view>;

// The strategies that have the option; empty means every strategy.
Names owners(std::string_view option) {
  const auto among = [option](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), option) != names.end();
  };
  if (among(
          {"device-ids", "output-device", "threads", "replicate", "broadcast", "loss", "reduce"})) {
    return {"dp"};
  }
  if (among({"grads", "overlap", "bucket-mb", "first-bucket-mb", "accumulate", "static-graph",
             "compress", "powersgd-start", "reducer", "cycle-time", "fusion-mb"})) {
    return {"ddp", "dp-allreduce"};
  }
  if (option == "join") return {"ddp"};
  if (among({"comm", "check-order"})) return {"ddp", "ddp-replicate"};
  // Only these strategies copy between GPUs.
  if (option == "p2p") return {"dp", "dp-allreduce", "ddp", "ddp-replicate"};
  return {};
}

}  // namespace

std::span<const std::string_view> sweep_options() { return kOptions; }

bool has_option(std::string_view strategy, std::string_view option) {
  const Names names = owners(option);
  return names.empty() || std::find(names.begin(), names.end(), strategy) != names.end();
}

std::string owners_of(std::string_view option) {
  const Names names = owners(option);
  return names.empty() ? "every strategy" : fmt::format("{}", fmt::join(names, " and "));
}

}  // namespace tandem::cli
