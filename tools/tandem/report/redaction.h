// SPDX-License-Identifier: Apache-2.0
//
// Results that their owner can send to strangers.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "common/results/document.h"

namespace tandem::cli {

// The fact in a redacted document's context that lists what was removed.
inline constexpr const char* kRemovedFact = "tandem_removed";

// What was removed: how often, by kind ("host name", "serial", "Slurm job", "word").
using Removed = std::map<std::string, int>;

// The text with only those of its words that tell nobody's machine: words of letters, and numbers
// with their units. Every other one, such as a path, an address, a serial or "gpu7", and each of
// `secrets`, becomes "[removed]". Words end at blanks and at ,;:=()[]{}"'<>|`.
[[nodiscard]] std::string harmless_words(std::string_view text,
                                         const std::set<std::string, std::less<>>& secrets,
                                         Removed& removed);

struct Redacted {
  std::string text;  // results.json, as `tandem report` reads it
  Removed removed;
};

// The document with figures, what Tandem itself names, and the harmless words of all other texts;
// without the sweep's definition. Hosts are called host1, host2, ... The list of what was removed
// is in the document's context, as tandem_removed.
[[nodiscard]] Redacted redacted(results::Document document);

// Whether the document was made by redacted().
[[nodiscard]] bool is_redacted(const results::Document& document);

// "2 host names, 3 words"; "nothing" where there was nothing.
[[nodiscard]] std::string words_of(const Removed& removed);

}  // namespace tandem::cli
