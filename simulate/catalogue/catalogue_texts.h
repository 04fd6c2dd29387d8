// SPDX-License-Identifier: Apache-2.0
//
// The catalogue's files (catalogue/), as the build packs them into the library.
#pragma once

#include <string_view>

namespace tandem {

// The GPUs, with the figures that all have in common.
[[nodiscard]] std::string_view catalogue_gpus();

// The nodes, their links, networks and the host.
[[nodiscard]] std::string_view catalogue_machines();

// The errors on published steps and the interpreter's costs.
[[nodiscard]] std::string_view catalogue_published();

}  // namespace tandem
