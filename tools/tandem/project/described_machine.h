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

// The GPUs of all nodes.
[[nodiscard]] std::int64_t gpus_of(const HardwareDescription& hardware);

// The machine that `asked` names, for so many devices. Throws usage errors: an unknown name, with
// the nearest one; more devices than there are, where no network is the node's usual one.
[[nodiscard]] DescribedMachine machine_for(const std::string& asked, int most_devices);

// The parts of a catalogued name: "dgx-a100" and "8xib-200g" of "dgx-a100x4@8xib-200g"; of a node
// alone its usual network, which may be empty.
struct NodeAndNetwork {
  std::string node;
  std::string network;
};
[[nodiscard]] NodeAndNetwork node_and_network(const std::string& name);

// Throws a usage error that says what there is, where no step is in that precision or the machine's
// GPU lacks it.
void check_precision(const std::string& precision, const DescribedMachine& machine);

// The precision of all steps in words; `precision` may be empty, which is fp32.
[[nodiscard]] std::string precision_text(const std::string& precision, const GpuDescription& gpu);

// What all cells of the projection have in common.
struct DescribedSteps {
  DescribedMachine machine;
  std::string model;        // as in cells
  std::string precision;    // empty: fp32
  std::string single_step;  // empty: as described
  std::string costs;        // of the interpreter; empty: none
  std::vector<std::string> bucket_mb{};
  std::vector<std::int64_t> sizes{};  // the batches, ascending: samples of a device, or of all
  bool has_whole_batches = false;     // of all

  [[nodiscard]] std::int64_t batch_of(std::int64_t size, int on_devices) const {
    return has_whole_batches ? size : size * on_devices;
  }
};

// A step of a strategy on a batch of all devices. dp's threads share one interpreter, whose lock is
// modelled with its costs.
[[nodiscard]] results::Cell described_cell(const DescribedSteps& steps, std::string_view strategy,
                                           int devices, std::int64_t batch);

// single on one device; dp, ddp (in each bucket size) and the bound on each larger count, dp on
// those of one node alone; for each size of a batch.
[[nodiscard]] std::vector<results::Cell> described_cells(const DescribedSteps& steps,
                                                         const std::vector<int>& devices);

}  // namespace tandem::cli
