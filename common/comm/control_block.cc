// SPDX-License-Identifier: Apache-2.0
#include "common/comm/control_block.h"

#include <algorithm>
#include <new>
#include <string>

#include "common/comm/agreement.h"
#include "common/comm/node_memory.h"

namespace tandem {

PairArrivals& ControlBlock::pair(int a, int b) {
  const int low = std::min(a, b);
  const int high = std::max(a, b);
  // The pairs are stored as the rows of a triangle.
  return pairs[static_cast<std::size_t>(high * (high - 1) / 2 + low)];
}

std::shared_ptr<host::SharedMapping> map_control_block(Bootstrap& bootstrap) {
  const Bytes size{static_cast<std::int64_t>(sizeof(ControlBlock))};
  auto mapping = map_node_memory(bootstrap, size);
  attempt_together(bootstrap, [&] {
    if (bootstrap.rank() == 0) mapping->reserve(Bytes{0}, size);
  });
  return mapping;
}

ControlBlock& control_block(const host::SharedMapping& mapping) {
  return *std::launder(reinterpret_cast<ControlBlock*>(mapping.data()));
}

std::vector<DeviceId> devices_of_ranks(Bootstrap& bootstrap, DeviceId mine) {
  std::vector<DeviceId> devices;
  for (const std::string& index : bootstrap.all_gather(std::to_string(mine.index))) {
    devices.push_back({mine.backend, std::stoi(index)});
  }
  return devices;
}

}  // namespace tandem
