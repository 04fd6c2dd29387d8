// SPDX-License-Identifier: Apache-2.0
#include "bench/step/named_options.h"

#include <fmt/format.h>

#include <utility>

#include "bench/step/step_variant.h"

namespace tandem::bench {
namespace {

// Whether --device-ids spells out its default.
bool names_all_in_order(const StepFlags& flags) {
  std::string all;
  for (int i = 0; i < flags.devices; ++i) all += fmt::format("{}{}", i == 0 ? "" : ",", i);
  return flags.device_ids == all;
}

}  // namespace

std::map<std::string, std::string> named_options(const StepFlags& flags) {
  const StepFlags usual;
  std::map<std::string, std::string> named;
  const auto name = [&](const char* flag, std::string StepFlags::*text) {
    if (flags.*text != usual.*text) named[flag] = flags.*text;
  };
  name("input", &StepFlags::input);
  name("optimizer", &StepFlags::optimizer);
  name("precision", &StepFlags::precision);
  name("cuda-graph", &StepFlags::cuda_graph);
  if (!names_all_in_order(flags)) name("device-ids", &StepFlags::device_ids);
  if (flags.output_device != std::to_string(root_of(flags))) {
    name("output-device", &StepFlags::output_device);
  }
  name("threads", &StepFlags::threads);
  name("replicate", &StepFlags::replicate);
  name("broadcast", &StepFlags::broadcast);
  name("loss", &StepFlags::loss);
  name("reduce", &StepFlags::reduce);
  name("grads", &StepFlags::grads);
  name("overlap", &StepFlags::overlap);
  name("bucket-mb", &StepFlags::bucket_mb);
  name("first-bucket-mb", &StepFlags::first_bucket_mb);
  if (flags.accumulate > 1) named["accumulate"] = std::to_string(flags.accumulate);
  name("static-graph", &StepFlags::static_graph);
  name("compress", &StepFlags::compress);
  if (flags.powersgd_start != usual.powersgd_start) {
    named["powersgd-start"] = std::to_string(flags.powersgd_start);
  }
  name("join", &StepFlags::join);
  name("reducer", &StepFlags::reducer);
  name("cycle-time", &StepFlags::cycle_time);
  name("fusion-mb", &StepFlags::fusion_mb);
  name("comm", &StepFlags::comm);
  name("check-order", &StepFlags::check_order);
  name("link", &StepFlags::link);
  name("dispatch-cost", &StepFlags::dispatch_cost);
  name("interpreter-lock", &StepFlags::interpreter_lock);
  name("plant", &StepFlags::plant);
  name("phases", &StepFlags::phases);
  name("check-numerics", &StepFlags::check_numerics);
  name("fault", &StepFlags::fault);
  name("device-memory", &StepFlags::device_memory);
  if (flags.gpus.p2p != usual.gpus.p2p) named["p2p"] = flags.gpus.p2p;
  if (flags.gpus.bind != usual.gpus.bind) named["bind"] = flags.gpus.bind;
  if (flags.seed != usual.seed) named["seed"] = std::to_string(flags.seed);
  if (flags.free_running > 0) named["free-running"] = std::to_string(flags.free_running);
  return named;
}

}  // namespace tandem::bench
