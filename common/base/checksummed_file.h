// SPDX-License-Identifier: Apache-2.0
//
// A JSON file whose path stands in place of a model's name: "own.json", or with the checksum that
// the file must have, "own.json#0123456789abcdef". The checksum keeps measurements of one content
// from mixing with measurements of another.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tandem {

struct ChecksummedFile {
  std::string path;
  std::string checksum{};  // empty: any content
};

// The file that `name` names; nothing where `name` is not a file's.
[[nodiscard]] std::optional<ChecksummedFile> checksummed_file(std::string_view name);

// The file's text. Throws usage errors that begin with `read`: as read_whole() does, where the file
// is larger than 64 MiB, and where its checksum differs.
[[nodiscard]] std::string text_of(const ChecksummedFile& file, std::string_view read);

// A file's name, below `folder` where the name is relative, with the checksum of the file's present
// content; any other name unchanged. Throws as text_of().
[[nodiscard]] std::string with_checksum(const std::string& name, std::string_view read,
                                        const std::filesystem::path& folder = {});

// The name in results: a checksummed file without its folder, so that the name does not depend on
// where the file lies; any other name unchanged.
[[nodiscard]] std::string name_in_results(const std::string& name);

}  // namespace tandem
