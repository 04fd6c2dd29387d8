// SPDX-License-Identifier: Apache-2.0
#include "common/results/launch_record.h"

#include <fmt/format.h>

#include "common/json/parse.h"
#include "common/results/files.h"
#include "common/results/record_fields.h"

namespace tandem::results {
namespace {

template <class T>
T parse(std::string_view text, std::string_view source) {
  return read_as<T>(JsonDocument(JsonAuthor::kProgram, text, std::string(source)).root());
}

}  // namespace

std::string Cell::name() const {
  std::string text =
      fmt::format("{}/{}/{}/devices:{}/batch:{}", strategy, launch, model, devices, global_batch);
  for (const auto& [option, value] : options) text += fmt::format("/{}:{}", option, value);
  return text;
}

std::string Cell::option(const std::string& name, const std::string& usual) const {
  const auto found = options.find(name);
  return found == options.end() ? usual : found->second;
}

bool Cell::is_pretended() const { return backend.starts_with(kPretended); }

std::string_view to_string(Status status) {
  return kStatusNames.at(static_cast<std::size_t>(status));
}

std::vector<std::int64_t> peaks_by_device(const LaunchRecord& record) {
  std::vector<std::int64_t> peaks;
  for (const DeviceMemory& memory : record.memory) {
    peaks.insert(peaks.end(), static_cast<std::size_t>(memory.count.value_or(1)),
                 memory.peak_bytes);
  }
  return peaks;
}

std::string to_json_line(const LaunchRecord& record) { return json_line(record); }
std::string to_json_line(const GpuRecord& gpu) { return json_line(gpu); }
std::string to_json_line(const ThreadPlace& thread) { return json_line(thread); }

LaunchRecord parse_record(std::string_view text, std::string_view source) {
  return parse<LaunchRecord>(text, source);
}

GpuRecord parse_gpu(std::string_view text, std::string_view source) {
  return parse<GpuRecord>(text, source);
}

ThreadPlace parse_thread(std::string_view text, std::string_view source) {
  return parse<ThreadPlace>(text, source);
}

void write_record(const std::filesystem::path& path, const LaunchRecord& record) {
  replace_file(path, to_json_line(record) + "\n");
}

LaunchRecord read_record(const std::filesystem::path& path) {
  return parse_record(read_file(path), path.string());
}

}  // namespace tandem::results
