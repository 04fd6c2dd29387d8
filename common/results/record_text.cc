// SPDX-License-Identifier: Apache-2.0
#include "common/results/record_text.h"

#include "common/results/files.h"
#include "common/results/gpu_json.h"
#include "common/results/json_parts.h"
#include "common/results/record_json.h"

namespace tandem::results {
namespace {

template <class T>
T parse(std::string_view text, std::string_view source, T (*from)(const JsonValue&)) {
  const ScannedJson json(text, source);
  return reading(source, [&] { return from(json.root()); });
}

template <class T>
std::string line(const T& value) {
  std::string text;
  const TextSink sink = [&text](std::string_view part) { text += part; };
  JsonWriter writer(JsonWriter::Layout::kLine, sink);
  write(writer, "", value);
  writer.finish();
  return text;
}

}  // namespace

std::string to_json_line(const LaunchRecord& record) { return line(record); }

LaunchRecord parse_record(std::string_view text, std::string_view source) {
  return parse(text, source, record_from);
}

std::string to_json_line(const GpuRecord& gpu) { return line(gpu); }

GpuRecord parse_gpu(std::string_view text, std::string_view source) {
  return parse(text, source, gpu_from);
}

std::string to_json_line(const ThreadPlace& thread) { return line(thread); }

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
