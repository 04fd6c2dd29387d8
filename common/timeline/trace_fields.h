// SPDX-License-Identifier: Apache-2.0
//
// Private to the writer and the reader of traces: what both say of a trace's records.
#pragma once

#include <string_view>
#include <tuple>

#include "common/json/fields.h"
#include "common/timeline/timeline.h"

namespace tandem::timeline {

// The version that is written; of the same major number all are read.
inline constexpr std::string_view kTraceVersion = "2.0.0";

// Without the source of GPU times, and without what events of their own hold.
constexpr auto json_fields(const Process*) {
  constexpr FieldRule kRequired{.required = true};
  return std::tuple(field("rank", &Process::rank, kRequired),
                    field("count", &Process::count, {.range = {.least = 2, .most = 1 << 20}}),
                    field("host", &Process::host, kRequired),
                    field("clock_offset_ns", &Process::clock_offset, kRequired),
                    field("clock_drift", &Process::clock_drift, kRequired),
                    field("clock_error_ns", &Process::clock_error, kRequired));
}

constexpr auto json_fields(const UntracedSamples*) {
  constexpr FieldRule kRequired{.required = true};
  return std::tuple(field("samples", &UntracedSamples::samples, kRequired),
                    field("step_seconds", &UntracedSamples::step, kRequired));
}

}  // namespace tandem::timeline
