// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tandem {

// The PCI address of a GPU's hardware name (Device::hardware()): "00000000:3B:00.0" of
// "00000000:3B:00.0 GPU-5f0e...". MIG instances of one GPU share this address.
[[nodiscard]] inline std::string pci_address_of(const std::string& hardware) {
  return hardware.substr(0, hardware.find(' '));
}

}  // namespace tandem
