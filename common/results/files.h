// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/input_file.h"

namespace tandem::results {

// A results file to be read: errors are failures that name the path. The limit of 4 GiB exceeds the
// size of any results.
[[nodiscard]] InputFile results_file(const std::filesystem::path& path);

// The text of the whole file; throws as read_whole().
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

// Writes a new file beside the path, syncs the file, then renames it over the path: a reader, or a
// crash, sees the old text or the new text, never a part. A link stays, and its target is replaced.
// A path that is not a regular file (a device, a pipe), or is this process's own output, is written
// in place. Throws a failure that names the path.
void replace_file(const std::filesystem::path& path, std::string_view text);

// Replaces a file by text that is never whole in memory: `write` passes each part to its sink.
using TextSink = std::function<void(std::string_view)>;
void replace_file(const std::filesystem::path& path,
                  const std::function<void(const TextSink&)>& write);

// Throws a failure that names the folder where no file can be written into the folder; leaves no
// file in the folder.
void check_folder_takes_files(const std::filesystem::path& folder);

// Whether `a` and `b` exist and are one file, under any names.
[[nodiscard]] bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b);

// Throws a usage error that names the output's option where an output is one of the inputs.
void check_is_no_input(const std::filesystem::path& output, std::string_view option,
                       const std::vector<std::filesystem::path>& inputs);

// Makes a folder and its missing parents. Throws a failure that names the folder and the system's
// reason.
void make_folder(const std::filesystem::path& path);

// Removes a file, or a folder with all content, where it exists; throws as make_folder().
void remove_all(const std::filesystem::path& path);

// Writes the whole text to an open descriptor; `path` is for the error alone.
void write_all(int descriptor, std::string_view text, const std::filesystem::path& path);

}  // namespace tandem::results
