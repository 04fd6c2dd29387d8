// SPDX-License-Identifier: Apache-2.0
#include "ddp/reducer_options.h"

#include "common/options/values.h"

namespace tandem::ddp {

BucketLimits bucket_limits(const options::Values& values) {
  const BucketLimits limits{.first = values.mebibytes("first-bucket-mb"),
                            .rest = values.mebibytes("bucket-mb")};
  const bool is_own_size = values.is_given("bucket-mb") && !values.is_given("first-bucket-mb");
  return is_own_size ? BucketLimits{.first = limits.rest, .rest = limits.rest} : limits;
}

ReducerOptions reducer_options(const options::Values& values) {
  ReducerOptions options;
  options.grads = values.pick("grads", {GradsMode::kCopy, GradsMode::kViews});
  options.overlap = values.pick("overlap", {Overlap::kOn, Overlap::kOff});
  options.priority = values.pick("comm-priority", {StreamPriority::kNormal, StreamPriority::kHigh});
  options.graph = values.pick("static-graph", {Graph::kDynamic, Graph::kStatic});
  options.micro_batches = values.count("accumulate");
  options.compression =
      values.pick("compress", {Compression::kNone, Compression::kBFloat16, Compression::kFloat16});
  options.buckets = bucket_limits(values);
  return options;
}

}  // namespace tandem::ddp
