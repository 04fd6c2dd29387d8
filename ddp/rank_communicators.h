// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/comm/communicator.h"

namespace tandem::ddp {

// What a rank meets the others through. Both outlive whoever is given them.
struct RankCommunicators {
  RankCommunicators(Communicator& for_data)  // NOLINT(google-explicit-constructor)
      : data(for_data) {}
  RankCommunicators(Communicator& for_data, Communicator* for_control)
      : data(for_data), control(for_control) {}

  Communicator& data;
  // A second one over the same ranks, which a background thread calls: Horovod's. Else null.
  Communicator* control = nullptr;
};

}  // namespace tandem::ddp
