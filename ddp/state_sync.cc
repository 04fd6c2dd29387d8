// SPDX-License-Identifier: Apache-2.0
#include "ddp/state_sync.h"

#include <algorithm>
#include <sstream>

namespace tandem::ddp {
namespace {

std::string shapes_of(const ParameterLayout& layout) {
  std::string text;
  for (const auto& segment : layout.segments()) text += to_string(segment.shape) + '\n';
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void check_against_first(const std::vector<std::string>& first,
                         const std::vector<std::string>& other, std::size_t rank) {
  if (first.size() != other.size()) {
    fail(ErrorKind::kUsage,
         "rank 0's model has {} parameters and rank {}'s has {}: "
         "every rank must be given the same model",
         first.size(), rank, other.size());
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
  const std::vector<std::string> first = lines_of(all.front());
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    check_against_first(first, lines_of(all[rank]), rank);
  }
}

void broadcast_state(Communicator& communicator, Replica& replica) {
  broadcast_in_buckets(communicator, replica.stream(), replica.parameters().flat);
  broadcast_in_buckets(communicator, replica.stream(), replica.buffers().flat);
}

}  // namespace tandem::ddp
