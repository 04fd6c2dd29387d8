// SPDX-License-Identifier: Apache-2.0
#include "simulate/cost/link.h"

#include <algorithm>
#include <cmath>

#include "common/base/error.h"

namespace tandem {

namespace {

Nanoseconds stream_time(const LinkModel& link, double bytes) {
  TANDEM_CHECK(link.bytes_per_second > 0, "a link of {} bytes/s", link.bytes_per_second);
  return Nanoseconds{std::llround(bytes * 1e9 / link.bytes_per_second)};
}

}  // namespace

Nanoseconds transfer_time(const LinkModel& link, Bytes size) {
  return link.latency + stream_time(link, static_cast<double>(size.value));
}

Nanoseconds ring_pass_time(const LinkModel& link, Bytes size, int ranks) {
  const int steps = ranks - 1;
  const double bytes = static_cast<double>(size.value) * steps / ranks;
  return link.latency * steps + stream_time(link, bytes);
}

Nanoseconds pipelined_time(const LinkModel& link, Bytes size, int ranks) {
  if (ranks == 1) return Nanoseconds{0};
  return link.latency * (ranks - 1) + stream_time(link, static_cast<double>(size.value));
}

}  // namespace tandem
