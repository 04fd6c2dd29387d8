// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/results/launch_record.h"

namespace tandem::results {

// A launch record as one line of JSON, which a bench program leaves for `tandem run` and the
// journal keeps. Throws a logic error that names the field where a number is NaN or infinite, since
// such a figure must not pass for a missing one.
[[nodiscard]] std::string to_json_line(const LaunchRecord& record);

// Parses a launch record. Unknown fields are ignored, absent fields keep their defaults (additive
// changes are minor ones); `cell` and `status` are required. Throws a failure naming `source`.
[[nodiscard]] LaunchRecord parse_record(std::string_view text, std::string_view source);

// A GPU's record as one line, which one rank sends to the others, and the parser of that line.
[[nodiscard]] std::string to_json_line(const GpuRecord& gpu);
[[nodiscard]] GpuRecord parse_gpu(std::string_view text, std::string_view source);
[[nodiscard]] std::string to_json_line(const ThreadPlace& thread);
[[nodiscard]] ThreadPlace parse_thread(std::string_view text, std::string_view source);

// Writes the record into a file of its own, replaced atomically.
void write_record(const std::filesystem::path& path, const LaunchRecord& record);

[[nodiscard]] LaunchRecord read_record(const std::filesystem::path& path);

}  // namespace tandem::results
