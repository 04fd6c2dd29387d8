// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "common/base/error.h"
#include "common/results/document.h"

namespace tandem::cli {

// The file that a user's source stands for: itself, or of a folder of `tandem run` the journal,
// for a crash may have left it without a results document, else that document. Throws a usage error
// where there is none.
[[nodiscard]] std::filesystem::path file_in(const std::filesystem::path& source);

// What `read` makes of a file that the user named: one that cannot be read is a usage error.
template <class Read>
[[nodiscard]] auto as_input(Read read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kFailure) throw;
    throw Error(ErrorKind::kUsage, error.what());
  }
}

// What it holds. Throws a usage error where it cannot be read or holds no launch.
[[nodiscard]] results::Document load_document(const std::filesystem::path& source);

}  // namespace tandem::cli
