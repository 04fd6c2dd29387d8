// SPDX-License-Identifier: Apache-2.0
//
// Results that their owner can send to strangers.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/results/document.h"

namespace tandem::cli {

// The fact in a redacted document's context that lists what was removed.
inline constexpr const char* kRemovedFact = "tandem_removed";

// What was removed: how often, by kind ("host name", "address", "folder", "serial", "Slurm job").
using Removed = std::map<std::string, int>;

// The text without paths, of which a file's name stays, and without the serials of GPUs (UUIDs). A
// path ends at a blank; one without a root, "~" or "." at its start is one if a file's name ends
// it, since cells' names have slashes, too. Strings of JSON stay whole.
[[nodiscard]] std::string without_folders_and_serials(std::string_view text, Removed& removed);

struct Redacted {
  std::string text;  // results.json, as `tandem report` reads it
  Removed removed;
};

// The document without the names and addresses of hosts, folders, serials and the numbers of Slurm
// jobs. Hosts are called host1, host2, ...; known are those that launches, the context and --hosts
// name, not those that only a host file names. The list of what was removed is in the document's
// context, as tandem_removed.
[[nodiscard]] Redacted redacted(results::Document document);

// Whether the document was made by redacted().
[[nodiscard]] bool is_redacted(const results::Document& document);

// "2 folders, 1 host name"; "nothing" where there was nothing.
[[nodiscard]] std::string words_of(const Removed& removed);

}  // namespace tandem::cli
