// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tandem::ddp {

// Error feedback and warm start are always on, as they are by default in torch.
struct PowerSgdOptions {
  int rank = 1;  // rank of the two factors, where the matrix has no smaller rank

  // Steps that are averaged uncompressed at first: at least 2, since buckets are rebuilt after the
  // first step.
  std::int64_t start_step = 1000;

  // A matrix is compressed where it has more than this many times the elements of its factors.
  double min_compression_rate = 2;

  std::uint64_t seed = 0;  // of the first right factors, the same on all ranks
};

enum class Compression {
  kNone,
  kBFloat16,  // gradients travel as 16-bit numbers
  kFloat16,
  kPowerSgd,  // matrices travel as two factors of low rank
};

struct CompressionOptions {
  Compression compression = Compression::kNone;
  PowerSgdOptions power_sgd{};  // for kPowerSgd
};

}  // namespace tandem::ddp
