// SPDX-License-Identifier: Apache-2.0
#include "common/results/record_fields.h"

#include <fmt/format.h>

#include <charconv>

#include "common/base/error.h"

namespace tandem::results {
namespace {

// The major number; -1 where the text does not begin with a number.
int major_number(std::string_view version) {
  int number = -1;
  std::from_chars(version.data(), version.data() + version.size(), number);
  return number;
}

}  // namespace

void check_schema_version(std::string_view version, std::string_view source) {
  const int found = major_number(version);
  const bool is_printed = version.find_first_not_of("0123456789.-+abcdefghijklmnopqrstuvwxyz") ==
                          std::string_view::npos;
  if (found < 0 || !is_printed || version.size() > 32) {
    fail(ErrorKind::kFailure, "reading {}: schema version '{}' is no version; is it a result?",
         source, is_printed ? version.substr(0, 32) : "?");
  }
  if (found > major_number(kSchemaVersion)) {
    fail(ErrorKind::kFailure,
         "reading {}: its schema version {} is newer than {}, which this program reads; use a "
         "newer tandem",
         source, version, kSchemaVersion);
  }
  if (found < major_number(kSchemaVersion)) {
    fail(ErrorKind::kFailure,
         "reading {}: its schema version {} is older than {}, which this program reads; tandem "
         "0.1.0 reads it",
         source, version, kSchemaVersion);
  }
}

void finish_reading(Resolving& resolving, const JsonValue& json) {
  if (resolving.last_round < resolving.first_round) {
    json.complain("the last look is before the first");
  }
}

// A measured launch without positive samples would turn into NaN or infinity further on.
void finish_reading(LaunchRecord& record, const JsonValue& json) {
  if (record.status != Status::kOk) return;
  if (record.step_seconds.empty()) json.complain("a launch is ok, but has no samples");
  for (const JsonValue sample : json.at("step_seconds")) {
    const double seconds = sample.number(kTime.range);
    if (!(seconds > 0)) sample.complain(fmt::format("{}: a step takes more than 0 s", seconds));
  }
}

}  // namespace tandem::results
