// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "common/results/document.h"

namespace tandem::cli {

// The file that a user's source stands for: itself, or of a folder of `tandem run` the journal,
// for a crash may have left it without a results document, else that document. Throws a usage error
// where there is none.
[[nodiscard]] std::filesystem::path file_in(const std::filesystem::path& source);

// What it holds. Throws where it cannot be read or holds no launch.
[[nodiscard]] results::Document load_document(const std::filesystem::path& source);

}  // namespace tandem::cli
