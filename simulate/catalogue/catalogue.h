// SPDX-License-Identifier: Apache-2.0
//
// Machines by name: GPUs, nodes and networks that are described once each (catalogue/) and put
// together by what is asked for, such as "dgx-a100" or "dgx-a100x4@8xib-200g".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/catalogue/description.h"

namespace tandem {

struct CatalogueEntry {
  std::string name;
  std::string what;  // in a few words
};

// The machines of the catalogue, in its own order.
[[nodiscard]] std::vector<CatalogueEntry> catalogue_nodes();
[[nodiscard]] std::vector<CatalogueEntry> catalogue_networks();

// The catalogue's name of what a person calls a machine: of "a100" and "RTX3090" the first node
// with such GPUs, of "a100-40gb" with that memory, of "rtx-3090x4" and "4xrtx3090" one that has
// four, or as many as it takes with their usual network. Other names are returned as they are.
[[nodiscard]] std::string machine_name(std::string_view name);

// The GPUs that a name counts, 4 of "a100x4" and "4xa100"; nothing for a machine's name and without
// a count.
[[nodiscard]] std::optional<int> gpus_asked_for(std::string_view name);

// The machine of a name, as machine_name() has it: a node, or several of them joined by a network,
// "NODExCOUNT@NETWORK", where the network may begin with the number of its links at each node,
// "8xib-200g". Throws a usage error that begins with `flag` for a name that the catalogue lacks,
// names the nearest, and says how a machine is described.
[[nodiscard]] HardwareDescription catalogued_hardware(std::string_view name, std::string_view flag);

// The usual network of nodes of this name, as it stands behind the "@" of a machine's name:
// "8xib-200g"; empty where nothing does, and for names of no node.
[[nodiscard]] std::string usual_network(std::string_view node);

// Whether a machine that is asked for is a file's ("own.json"), not a name.
[[nodiscard]] inline bool is_hardware_file(std::string_view asked) {
  return asked.ends_with(".json");
}

// The source of the scatter of a GPU whose file has none: the catalogue's GPUs have it in common.
inline constexpr std::string_view kAssumedScatter = "assumed: as the catalogue has it";

// The machine of a file or of a name. Throws as read_hardware() and catalogued_hardware().
[[nodiscard]] HardwareDescription find_hardware(const std::string& asked, std::string_view flag);

// The name with a checksum of the machine's figures, "dgx-a100#0123456789abcdef": what is simulated
// on figures of another version has another name. Throws as catalogued_hardware().
[[nodiscard]] std::string with_figures(std::string_view name, std::string_view flag);

}  // namespace tandem
