// SPDX-License-Identifier: Apache-2.0
//
// The machine of a projection onto described hardware, and its cells.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/hardware/description.h"
#include "common/results/launch_record.h"

namespace tandem::cli {

// The machine, with as many nodes as the devices need.
struct DescribedMachine {
  std::string name;  // as --hardware takes it
  HardwareDescription hardware;
};

// The machine that `asked` names, for so many devices. Throws usage errors: an unknown name, with
// the nearest one; more devices than there are, where no network is the node's usual one.
[[nodiscard]] DescribedMachine machine_for(const std::string& asked, int most_devices);

// Throws a usage error where the machine's GPU has no such precision.
void check_precision(const std::string& precision, const HardwareDescription& hardware);

// What all cells of the projection have in common.
struct DescribedSteps {
  DescribedMachine machine;
  std::string model;        // as in cells
  std::string precision;    // empty: fp32
  std::string single_step;  // empty: as described
  std::string costs;        // of the interpreter; empty: none
  std::vector<std::string> bucket_mb{};
};

// A step of a strategy. dp's threads share one interpreter, whose lock is modelled with its costs.
[[nodiscard]] results::Cell described_cell(const DescribedSteps& steps, std::string_view strategy,
                                           int devices, std::int64_t share);

// The same step without the interpreter's costs.
[[nodiscard]] results::Cell without_costs(results::Cell cell);

// single on one device; dp, ddp (in each bucket size) and the bound on each larger count, dp on
// those of one node alone; for each share of a device.
[[nodiscard]] std::vector<results::Cell> described_cells(const DescribedSteps& steps,
                                                         const std::vector<int>& devices,
                                                         const std::vector<std::int64_t>& shares);

}  // namespace tandem::cli
