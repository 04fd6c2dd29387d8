// SPDX-License-Identifier: Apache-2.0
#include "dp/options.h"

#include "common/options/values.h"

namespace tandem::dp {
namespace {

Order order_of(const options::Values& values, options::Name name) {
  return values.pick(name, {Order::kTorch, Order::kSequential, Order::kTree, Order::kCollective});
}

}  // namespace

DataParallelOptions data_parallel_options(const options::Values& values) {
  DataParallelOptions options;
  if (values.is_given("device-ids")) options.device_ids = values.devices("device-ids");
  if (values.is_given("output-device")) options.output_device = values.count("output-device");
  options.threads = values.pick("threads", {Threads::kSpawned, Threads::kKept});
  options.replicate =
      values.pick("replicate", {Grouping::kTensor, Grouping::kCoalesced, Grouping::kFlat});
  options.broadcast = order_of(values, "broadcast");
  options.loss = values.pick("loss", {LossPlace::kRoot, LossPlace::kReplicas});
  options.reduce = order_of(values, "reduce");
  return options;
}

}  // namespace tandem::dp
