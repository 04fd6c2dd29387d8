// SPDX-License-Identifier: Apache-2.0
//
// The contract of communicators: one suite (communicator_contract.cc), instantiated by the test
// programs for each transport, with ranks as threads and as processes.
#pragma once

#include <gtest/gtest.h>

#include "tests/comm/contract_setting.h"

namespace tandem::test {

class CommunicatorContract : public testing::TestWithParam<ContractSetting> {};

// "shared_memory_3_threads".
[[nodiscard]] inline std::string name_of_setting(
    const testing::TestParamInfo<ContractSetting>& info) {
  return info.param.name;
}

}  // namespace tandem::test
