// SPDX-License-Identifier: Apache-2.0
#include "bench/step/bucket_limits.h"

#include <limits>

#include "common/base/error.h"
#include "common/base/units.h"

namespace tandem::bench {

Bytes bucket_size(const std::string& flag, const std::string& text) {
  if (text == "all") return Bytes{std::numeric_limits<std::int64_t>::max()};
  const auto number = parse_number<double>(text);
  if (!number || !(*number >= 0 && *number < 1e9)) {
    fail(ErrorKind::kUsage, "{}: '{}' is no number of MiB: give one such as 25, or all", flag,
         text);
  }
  const Bytes size = parse_bytes(text + "MiB", flag);
  if (size < Bytes{1}) {
    fail(ErrorKind::kUsage, "{}: a bucket holds more than {} MiB", flag, text);
  }
  return size;
}

ddp::BucketLimits bucket_limits(const std::string& bucket_mb, const std::string& first_bucket_mb) {
  ddp::BucketLimits limits{.first = mib(1), .rest = mib(25)};
  if (!bucket_mb.empty()) limits.first = limits.rest = bucket_size("--bucket-mb", bucket_mb);
  if (!first_bucket_mb.empty()) limits.first = bucket_size("--first-bucket-mb", first_bucket_mb);
  return limits;
}

}  // namespace tandem::bench
