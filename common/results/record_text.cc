// SPDX-License-Identifier: Apache-2.0
#include "common/results/record_text.h"

#include "common/results/files.h"
#include "common/results/gpu_json.h"
#include "common/results/record_json.h"

namespace tandem::results {
namespace {

template <class T>
T parse(std::string_view text, std::string_view source, T (*from)(const Json&)) {
  const Json json = parse_json(text, source);
  return reading(source, "a launch record", [&] { return from(json); });
}

}  // namespace

std::string to_json_line(const LaunchRecord& record) { return dump(to_json(record)); }

LaunchRecord parse_record(std::string_view text, std::string_view source) {
  return parse(text, source, record_from);
}

std::string to_json_line(const GpuRecord& gpu) { return dump(to_json(gpu)); }

GpuRecord parse_gpu(std::string_view text, std::string_view source) {
  return parse(text, source, gpu_from);
}

std::string to_json_line(const ThreadPlace& thread) { return dump(to_json(thread)); }

ThreadPlace parse_thread(std::string_view text, std::string_view source) {
  return parse(text, source, thread_from);
}

void write_record(const std::filesystem::path& path, const LaunchRecord& record) {
  replace_file(path, to_json_line(record) + "\n");
}

LaunchRecord read_record(const std::filesystem::path& path) {
  return parse_record(read_file(path), path.string());
}

}  // namespace tandem::results
