// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulate/catalogue/description.h"

namespace tandem::test {

// A machine of round numbers: a node of 8 GPUs, whose memory moves 100 bytes in a nanosecond, whose
// links to their peers carry 10, and those to the host 4, and whose fp32 products make 1000 FLOP.
// Nothing else takes time, unless a test says so.
[[nodiscard]] inline HardwareDescription round_machine() {
  const auto figure = [](auto value) { return SourcedFigure<decltype(value)>{value, "round"}; };
  const SourcedFigure<Nanoseconds> none{Nanoseconds{0}, "round"};
  HardwareDescription machine;
  machine.name = "round machine";
  machine.gpu.name = "round GPU";
  machine.gpu.multiprocessors = figure(10);
  machine.gpu.memory = figure(mib(64));
  machine.gpu.memory_bandwidth = figure(100e9);
  machine.gpu.fp32 = figure(1e12);
  machine.gpu.product_share = figure(1.0);
  machine.gpu.memory_share = figure(1.0);
  machine.gpu.least_time = none;
  machine.gpu.contention = figure(0.0);
  machine.node.gpus = figure(8);
  machine.node.host_link = {figure(4e9), none};
  machine.node.peer_link = LinkDescription{figure(10e9), none};
  machine.host = {.launch = none, .stream_wake = {}, .wake = none, .thread_start = none};
  return machine;
}

}  // namespace tandem::test
