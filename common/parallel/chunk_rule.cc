// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/chunk_rule.h"

#include <algorithm>

#include "common/base/error.h"

namespace tandem {

std::vector<Piece> chunk_batch(std::int64_t batch, int devices) {
  TANDEM_CHECK(batch >= 1 && devices >= 1, "{} samples for {} devices", batch, devices);
  const std::int64_t most = (batch + devices - 1) / devices;
  std::vector<Piece> pieces;
  for (std::int64_t first = 0; first < batch; first += most) {
    pieces.push_back({first, std::min(most, batch - first)});
  }
  return pieces;
}

Piece share_of_batch(std::int64_t batch, int rank, int ranks) {
  if (batch % ranks != 0) {
    fail(ErrorKind::kUsage,
         "a global batch of {} cannot be shared evenly by {} ranks, and with uneven shares the "
         "average over ranks is not the full-batch gradient: use a multiple of {} (ddp also takes "
         "--join)",
         batch, ranks, ranks);
  }
  const std::int64_t count = batch / ranks;
  return {rank * count, count};
}

Piece uneven_share_of_batch(std::int64_t batch, int rank, int ranks) {
  const std::vector<Piece> pieces = chunk_batch(batch, ranks);
  const auto index = static_cast<std::size_t>(rank);
  return index < pieces.size() ? pieces[index] : Piece{};
}

}  // namespace tandem
