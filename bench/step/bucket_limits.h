// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ddp/bucket_plan.h"

namespace tandem::bench {

// The size that `text` gives: "25" in MiB, or "all" for no limit. Throws a usage error that names
// `flag`.
[[nodiscard]] Bytes bucket_size(const std::string& flag, const std::string& text);

// The limits that --bucket-mb and --first-bucket-mb ask for: MiB, or "all" for no limit; empty for
// the default. Defaults are torch's, 25 and 1; with a cap of the user's own there is no small first
// bucket. Throws usage errors.
[[nodiscard]] ddp::BucketLimits bucket_limits(const std::string& bucket_mb,
                                              const std::string& first_bucket_mb);

}  // namespace tandem::bench
