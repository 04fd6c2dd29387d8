// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace tandem {

// Samples first .. first + count.
struct Piece {
  std::int64_t first = 0;
  std::int64_t count = 0;

  bool operator==(const Piece&) const = default;
};

// How torch's chunk cuts `batch` samples for at most `devices`: pieces of ceil(batch / devices),
// the last one smaller, and fewer pieces than devices where that uses the samples up (9 on 4: 3, 3,
// 3).
[[nodiscard]] std::vector<Piece> chunk_batch(std::int64_t batch, int devices);

// One rank's share where every rank loads its own share: equal shares, in rank order. A usage error
// where `ranks` does not divide `batch`: averaging over ranks is the full-batch gradient only then.
[[nodiscard]] Piece share_of_batch(std::int64_t batch, int rank, int ranks);

// One rank's share with torch's Join: the pieces of chunk_batch in rank order, and nothing for
// ranks beyond the pieces. Ranks' averages then weigh the same whatever their shares.
[[nodiscard]] Piece uneven_share_of_batch(std::int64_t batch, int rank, int ranks);

}  // namespace tandem
