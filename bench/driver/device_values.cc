// SPDX-License-Identifier: Apache-2.0
#include "bench/driver/device_values.h"

#include "common/base/error.h"

namespace tandem::bench {

namespace {

constexpr std::int64_t kMostValues = 251;

// The largest whole number up to which the type holds every whole number: 2 ^ (bits of the type's
// fraction + 1).
std::int64_t largest_exact(DType type) {
  switch (type) {
    case DType::kFloat32:
      return 1 << 24;
    case DType::kBFloat16:
      return 1 << 8;
    case DType::kFloat16:
      return 1 << 11;
  }
  return 0;
}

}  // namespace

Pattern::Pattern(DType type, int ranks) : ranks_(ranks) {
  const std::int64_t each = largest_exact(type) / ranks;
  if (each < 1) {
    fail(ErrorKind::kUsage,
         "--dtype={}: sums over {} ranks are not exact in it, so nothing could be checked: use {} "
         "ranks or fewer, or fp32",
         tandem::name_of(type), ranks, largest_exact(type));
  }
  values_ = static_cast<std::uint64_t>(std::min(each + 1, kMostValues));
}

}  // namespace tandem::bench
