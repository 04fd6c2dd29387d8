// SPDX-License-Identifier: Apache-2.0
#include "ddp/state_sync.h"

#include <algorithm>
#include <string_view>

#include "common/base/text.h"

namespace tandem::ddp {
namespace {

// A line for each parameter.
std::string shapes_of(const ParameterLayout& layout) {
  std::string text;
  for (const auto& segment : layout.segments()) text += to_string(segment.shape) + '\n';
  return text;
}

void check_against_first(const std::vector<std::string_view>& first,
                         const std::vector<std::string_view>& other, std::size_t rank) {
  if (first.size() != other.size()) {
    fail(ErrorKind::kUsage,
         "rank 0's model has {} parameters and rank {}'s has {}: "
         "every rank must be given the same model",
         first.size() - 1, rank, other.size() - 1);
  }
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] == other[i]) continue;
    fail(ErrorKind::kUsage,
         "parameter {} is {} on rank 0 and {} on rank {}: every rank must be given the same model",
         i, first[i], other[i], rank);
  }
}

// Values in one arena need no flattening: the arena is sent as it lies, a bucket at a time.
void broadcast_in_buckets(Communicator& communicator, Stream& stream, Span<float> values) {
  constexpr std::int64_t kElements = kStateBucket.value / static_cast<std::int64_t>(sizeof(float));
  for (std::int64_t done = 0; done < values.size(); done += kElements) {
    const std::int64_t count = std::min(kElements, values.size() - done);
    communicator.broadcast(stream, values.subspan(done, count), 0);
  }
}

}  // namespace

void verify_same_parameters(Communicator& communicator, const ParameterLayout& layout) {
  const std::vector<std::string> all = communicator.all_gather(shapes_of(layout));
  const std::vector<std::string_view> first = split(all.front(), '\n');
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    check_against_first(first, split(all[rank], '\n'), rank);
  }
}

void broadcast_state(Communicator& communicator, Replica& replica) {
  broadcast_in_buckets(communicator, replica.stream(), replica.parameters().flat);
  broadcast_in_buckets(communicator, replica.stream(), replica.buffers().flat);
}

}  // namespace tandem::ddp
