// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tandem {

// A JSON file that is named where a model's name may stand: "own.json", or with the checksum that
// it has to have, "own.json#0123456789abcdef", so that what was measured of it never mixes with
// what another content would give.
struct PinnedFile {
  std::string path;
  std::string checksum{};  // empty: whatever it is
};

// The file that `name` names; nothing where it is no file's.
[[nodiscard]] std::optional<PinnedFile> pinned_file(std::string_view name);

// Its text. Usage errors, which begin with what is `read`, as read_whole has them, where it is
// larger than 64 MiB, and where its checksum is another one.
[[nodiscard]] std::string text_of(const PinnedFile& file, std::string_view read);

// A file's name, below `folder` where it is relative, with the checksum of what lies there now; any
// other name as it is. Throws as text_of.
[[nodiscard]] std::string pinned_name(const std::string& name, std::string_view read,
                                      const std::filesystem::path& folder = {});

// What results call it: a pinned file without its folder, so that it is the same one wherever it
// lies and whoever measures it from where; any other name as it is.
[[nodiscard]] std::string name_in_results(const std::string& pinned);

}  // namespace tandem
