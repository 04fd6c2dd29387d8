// SPDX-License-Identifier: Apache-2.0
//
// The bandwidth and latency between the devices of a node, measured by copy_bench once per sweep.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/results/link_matrix.h"
#include "tools/tandem/launch/launch_site.h"
#include "tools/tandem/process/interrupts.h"
#include "tools/tandem/run/copy_speeds.h"

namespace tandem::cli {

struct LinkRequest {
  std::filesystem::path copy_bench{};
  std::filesystem::path logs{};  // folder of the log and, for a while, of the figures
  LaunchSite site{};
  std::string backend = "auto";
  int devices = 1;  // devices that the sweep uses at once on a node
  bool oversubscribe = false;
};

// Measures a node's first devices, eight at most, so that the measurement takes seconds. A failure
// becomes the matrix' reason; the result is empty where an interrupt cut the measurement short.
[[nodiscard]] std::optional<results::LinkMatrix> measure_links(const LinkRequest& request,
                                                               const Interrupts& interrupts);

// copy_bench's command line for the request; copy_bench writes its figures to `out`.
[[nodiscard]] std::vector<std::string> link_command(const LinkRequest& request,
                                                    const std::filesystem::path& out);

// Fills in the links of a matrix that has its two sizes, or a reason where there are no links.
void add_links(const std::vector<CopySpeed>& copies, results::LinkMatrix& matrix);

}  // namespace tandem::cli
