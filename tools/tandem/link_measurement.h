// SPDX-License-Identifier: Apache-2.0
//
// What crosses between the devices of a node, found out by copy_bench once per sweep.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/results/link_matrix.h"
#include "tools/tandem/copy_speeds.h"
#include "tools/tandem/interrupts.h"
#include "tools/tandem/launch_site.h"

namespace tandem::cli {

struct LinkRequest {
  std::filesystem::path copy_bench{};
  std::filesystem::path logs{};  // for its log, and for its figures until they are read
  LaunchSite site{};
  std::string backend = "auto";
  int devices = 1;  // that the sweep uses at once on a node
  bool oversubscribe = false;
};

// Of a node's first devices, eight at most, so that it takes seconds. Whatever goes wrong is the
// matrix' reason; nothing where an interrupt cut it short.
[[nodiscard]] std::optional<results::LinkMatrix> measure_links(const LinkRequest& request,
                                                               const Interrupts& interrupts);

// copy_bench's command line for it, with figures in `out`.
[[nodiscard]] std::vector<std::string> link_command(const LinkRequest& request,
                                                    const std::filesystem::path& out);

// Fills in the links of a matrix that knows its two sizes. A reason where there are none.
void add_links(const std::vector<CopySpeed>& copies, results::LinkMatrix& matrix);

}  // namespace tandem::cli
