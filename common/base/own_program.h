// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace tandem {

// The file of this program; empty without /proc. /proc/self/exe does not serve: where the program
// is started through the dynamic loader ("ld-linux-x86-64.so.2 program"), as in an archive of
// tools/bundle, that link names the loader.
[[nodiscard]] std::filesystem::path program_file();

// The file that starts the program of `file` with the program's own libraries: in an archive, where
// programs lie in elf/, the launcher of the same name in bin/ beside elf/; else `file`.
[[nodiscard]] std::filesystem::path starter_of(const std::filesystem::path& file);

// The file that starts this program again.
[[nodiscard]] std::filesystem::path program_starter();

// Whether process `pid` of this machine runs this program's file, too.
[[nodiscard]] bool runs_this_program(int pid);

}  // namespace tandem
