// SPDX-License-Identifier: Apache-2.0
#include "ddp/horovod/fusion_rule.h"

#include <algorithm>
#include <deque>

namespace tandem::ddp::horovod {
namespace {

constexpr std::int64_t kPadding = 16;   // bytes that a vectorised copy moves at once
constexpr std::int64_t kLine = 4 * 64;  // bytes of 64 floats

std::int64_t round_up(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }

void add(FusedGroup& group, const Response& response) {
  group.slots.push_back({response.tensor, group.extent, response.size});
  group.extent += padded(response.size);
  group.size += response.size;
}

// Takes the next group out of `waiting`.
FusedGroup take_group(std::deque<Response>& waiting, Bytes threshold) {
  FusedGroup group{.slots = {}, .type = waiting.front().type, .extent = {}, .size = {}};
  add(group, waiting.front());
  waiting.pop_front();
  std::deque<Response> skipped;
  Bytes skipped_size;
  while (!waiting.empty()) {
    const Response& next = waiting.front();
    if (next.type == group.type && group.extent + padded(next.size) <= threshold) {
      add(group, next);
    } else {
      skipped_size += padded(next.size);
      if (group.extent + skipped_size > threshold) break;
      skipped.push_back(next);
    }
    waiting.pop_front();
  }
  waiting.insert(waiting.begin(), skipped.begin(), skipped.end());
  return group;
}

}  // namespace

Bytes padded(Bytes size) { return Bytes{round_up(size.value, kPadding)}; }

std::vector<FusedGroup> fuse(const std::vector<Response>& responses, Bytes threshold) {
  std::deque<Response> waiting(responses.begin(), responses.end());
  std::vector<FusedGroup> groups;
  while (!waiting.empty()) groups.push_back(take_group(waiting, threshold));
  return groups;
}

Bytes fusion_buffer_size(const std::vector<Response>& all, Bytes threshold) {
  if (all.size() < 2 || threshold == Bytes{0}) return {};
  Bytes together;
  for (const Response& response : all) together += padded(response.size);
  return Bytes{round_up(std::min(together, threshold).value, kLine)};
}

}  // namespace tandem::ddp::horovod
