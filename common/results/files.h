// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/input_file.h"

namespace tandem::results {

// A file of results, to be read: errors are failures that name the path. At most 4 GiB, more than
// any results are.
[[nodiscard]] InputFile results_file(const std::filesystem::path& path);

// The whole file; throws as read_whole().
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

// Writes beside the path, syncs, then renames over it: a reader, or a crash, sees the old text or
// the new one, never a part. A link stays, and what it points at is replaced. What is no regular
// file (a device, a pipe), or is this process's own output, is written into as it is. Throws a
// failure that names the path.
void replace_file(const std::filesystem::path& path, std::string_view text);

// The same for text that is never whole in memory: `write` hands what it is given each part.
using TextSink = std::function<void(std::string_view)>;
void replace_file(const std::filesystem::path& path,
                  const std::function<void(const TextSink&)>& write);

// Throws a failure that names the folder where nothing can be written into it; leaves nothing
// there.
void check_folder_takes_files(const std::filesystem::path& folder);

// Whether both are there and one file, under whatever names.
[[nodiscard]] bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b);

// Throws a usage error, naming the option that asks for it, where an output is one of the inputs.
void check_is_no_input(const std::filesystem::path& output, std::string_view option,
                       const std::vector<std::filesystem::path>& inputs);

// Makes a folder and those above it, where they are missing. Throws a failure that names it and the
// system's reason.
void make_folder(const std::filesystem::path& path);

// Removes a file, or a folder and all in it, where there is one; fails as make_folder().
void remove_all(const std::filesystem::path& path);

// Writes all of the text to an open descriptor; `path` is for the error alone.
void write_all(int descriptor, std::string_view text, const std::filesystem::path& path);

}  // namespace tandem::results
