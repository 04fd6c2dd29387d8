// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace tandem {

// The file of this program; empty without /proc. /proc/self/exe does not tell: where the dynamic
// loader is named ("ld-linux-x86-64.so.2 program"), as an archive of tools/bundle does, it is the
// loader's.
[[nodiscard]] std::filesystem::path program_file();

// What starts the program of `file` with the libraries that are its own. In an archive, where
// programs lie in elf/, that is the launcher of the same name in bin/ beside it; else the file.
[[nodiscard]] std::filesystem::path starter_of(const std::filesystem::path& file);

// What starts this program again.
[[nodiscard]] std::filesystem::path program_starter();

// Whether that process of this machine runs this program's file, too.
[[nodiscard]] bool runs_this_program(int pid);

}  // namespace tandem
