// SPDX-License-Identifier: Apache-2.0
#include "bench/step/shards.h"

namespace tandem::bench {

std::vector<Piece> shards_of(const StepOptions& options) {
  const auto named = static_cast<int>(options.variant.dp.device_ids.size());
  const int devices = named > 0 ? named : options.place.devices;
  std::vector<Piece> shards;
  for (const Piece& share : chunk_batch(options.variant.training.global_batch, devices)) {
    for (const Piece& part : chunk_batch(share.count, options.variant.reducer.micro_batches)) {
      shards.push_back({.first = share.first + part.first, .count = part.count});
    }
  }
  return shards;
}

}  // namespace tandem::bench
