// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

namespace tandem::pretend {

// The value of an attribute of CUDA (the runtime's and the driver's numbers are the same); 0 for
// what such a card does not have or nobody asked about yet.
[[nodiscard]] int attribute_of(int attribute, int device);

// "0000:01:00.0" of a device's physical index.
struct PciName {
  std::array<char, 16> text{};
};
[[nodiscard]] PciName pci_name(int physical);
[[nodiscard]] int pci_bus(int physical);

// 16 bytes that tell one pretended GPU from another.
[[nodiscard]] std::array<char, 16> uuid_of(int physical);

[[nodiscard]] int physical_of(int device);

}  // namespace tandem::pretend
