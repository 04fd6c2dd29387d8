// SPDX-License-Identifier: Apache-2.0
//
// Traces as files in the trace-event format, which Perfetto and chrome://tracing open
// (schema/trace-2.schema.json): a process per rank, a thread per stream, slices as complete events,
// a bucket's two moments as instants, and a flow from the moment a bucket is ready through its
// collective to where compute goes on with the bucket. Times are in microseconds, to the
// nanosecond, from the earliest.
#pragma once

#include <string>

#include "common/timeline/timeline.h"

namespace tandem::timeline {

[[nodiscard]] std::string to_json(const Trace& trace);

// Reads a trace that to_json wrote. Throws a usage error that begins with `source` for any other
// text.
[[nodiscard]] Trace parse_trace(const std::string& text, const std::string& source);

}  // namespace tandem::timeline
