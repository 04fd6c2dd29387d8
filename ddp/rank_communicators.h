// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/comm/communicator.h"

namespace tandem::ddp {

// The communicators through which a rank meets the others. Both outlive every user.
struct RankCommunicators {
  RankCommunicators(Communicator& for_data)  // NOLINT(google-explicit-constructor)
      : data(for_data) {}
  RankCommunicators(Communicator& for_data, Communicator* for_control)
      : data(for_data), control(for_control) {}

  Communicator& data;
  // A second communicator over the same ranks, for Horovod's background thread; else null.
  Communicator* control = nullptr;
};

}  // namespace tandem::ddp
