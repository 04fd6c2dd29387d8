// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/results/document.h"

namespace tandem::cli {

// The file behind a user's source: the source itself, or in a folder of `tandem run` the journal,
// since a crash may have left no results document, else the results document. Throws a usage error
// where there is no such file.
[[nodiscard]] std::filesystem::path file_in(const std::filesystem::path& source);

// Calls `read` on a file that the user named; a file that cannot be read is a usage error.
template <class Read>
[[nodiscard]] auto as_input(Read read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kFailure) throw;
    throw Error(ErrorKind::kUsage, error.what());
  }
}

// The launches of a journal; nothing where there is no launch.
[[nodiscard]] std::optional<results::Document> document_of_journal(
    const std::filesystem::path& journal);

// The results document of the source. Throws a usage error where the document cannot be read or
// holds no launch.
[[nodiscard]] results::Document load_document(const std::filesystem::path& source);

// Whether a launch is simulated: no figure of such a document is measured.
[[nodiscard]] bool is_projection(const results::Document& document);

// Throws a usage error where two sources hold the same measured launch: a launch that counts twice
// makes intervals too narrow. `documents` are the documents of `sources`, in the same order.
void check_distinct(const std::vector<std::string>& sources,
                    const std::vector<results::Document>& documents);

// Throws a usage error where the figures of sources `a` and `b` are of different things: measured
// steps, the host's work on pretended GPUs, or simulated steps.
void check_same_kind(const std::string& a, const results::Document& of_a, const std::string& b,
                     const results::Document& of_b);

// Whether `whole` holds every measured launch of `part`.
[[nodiscard]] bool holds_all(const results::Document& whole, const results::Document& part);

}  // namespace tandem::cli
