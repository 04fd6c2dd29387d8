// SPDX-License-Identifier: Apache-2.0
//
// Results that their owner can send to strangers.
#pragma once

#include <string>

#include "common/results/document.h"

namespace tandem::cli {

// results.json of the document with its figures and what Tandem itself names: cells, counts,
// versions of libraries, kinds of GPUs. Hosts are called host1, host2, ...; every other text, such
// as a message, a command, a folder or the value of a variable, is left out or "[removed]".
[[nodiscard]] std::string redacted(results::Document document);

// Whether the document was made by redacted().
[[nodiscard]] bool is_redacted(const results::Document& document);

}  // namespace tandem::cli
