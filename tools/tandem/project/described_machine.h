// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "simulate/catalogue/description.h"

namespace tandem::cli {

// The machine, with as many nodes as the devices need.
struct DescribedMachine {
  std::string name;  // as --hardware takes it
  HardwareDescription hardware;
};

// The GPUs of all nodes.
[[nodiscard]] std::int64_t gpus_of(const HardwareDescription& hardware);

// The machine that `given` names, for so many devices. Throws usage errors: an unknown name, with
// the nearest one; more devices than there are, where no network is the node's usual one.
[[nodiscard]] DescribedMachine machine_for(const std::string& given, int most_devices);

// Throws a usage error that says what there is, where no step is in that precision or the machine's
// GPU lacks it.
void check_precision(const std::string& precision, const DescribedMachine& machine,
                     bool is_of_module);

}  // namespace tandem::cli
