// SPDX-License-Identifier: Apache-2.0
#include "common/base/checksummed_file.h"

#include <fmt/format.h>

#include "common/base/checksum.h"
#include "common/base/input_file.h"

namespace tandem {
namespace {

constexpr std::string_view kSuffix = ".json";

// The largest JSON file: a layer takes up to 1 KB when measured at some batches, so this holds tens
// of thousands of layers.
constexpr Bytes kMost = mib(64);

}  // namespace

std::optional<ChecksummedFile> checksummed_file(std::string_view name) {
  if (name.ends_with(kSuffix)) return ChecksummedFile{.path = std::string(name)};
  const std::size_t mark = name.rfind('#');
  if (mark == std::string_view::npos) return std::nullopt;
  const std::string_view path = name.substr(0, mark);
  if (!path.ends_with(kSuffix)) return std::nullopt;
  return ChecksummedFile{.path = std::string(path), .checksum = std::string(name.substr(mark + 1))};
}

std::string text_of(const ChecksummedFile& file, std::string_view read) {
  const std::string begins = fmt::format("{}: ", read);
  std::string text = read_whole({.path = file.path, .begins = begins, .most = kMost});
  if (!file.checksum.empty() && file.checksum != checksum_of(text)) {
    fail(ErrorKind::kUsage,
         "{}: the checksum of {} is {}, not {}: the file was changed since; measure what it holds "
         "now in a folder of its own",
         read, file.path, checksum_of(text), file.checksum);
  }
  return text;
}

std::string with_checksum(const std::string& name, std::string_view read,
                          const std::filesystem::path& folder) {
  auto file = checksummed_file(name);
  if (!file) return name;
  file->path = (folder / file->path).lexically_normal().string();
  return fmt::format("{}#{}", file->path, checksum_of(text_of(*file, read)));
}

std::string name_in_results(const std::string& name) {
  const auto file = checksummed_file(name);
  if (!file || file->checksum.empty()) return name;
  const std::filesystem::path path = file->path;
  return fmt::format("{}#{}", path.filename().string(), file->checksum);
}

}  // namespace tandem
