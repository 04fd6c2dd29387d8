// SPDX-License-Identifier: Apache-2.0
//
// The contract of communicators: one suite (communicator_contract.cc), instantiated by the test
// programs for each transport, with ranks as threads and as processes.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "tests/comm/contract_setting.h"

namespace tandem::test {

class CommunicatorContract : public testing::TestWithParam<ContractSetting> {};

// "shared_memory_3_threads".
[[nodiscard]] inline std::string name_of_setting(
    const testing::TestParamInfo<ContractSetting>& info) {
  return info.param.name;
}

// The settings of a transport that MAKE has for each number of ranks; for one where all would take
// minutes.
template <class Make>
[[nodiscard]] std::vector<ContractSetting> of_each_size(Make make) {
#if defined(TANDEM_QUICK_TESTS) || defined(__SANITIZE_THREAD__)
  return {make(3)};
#else
  return {make(1), make(2), make(3), make(8)};
#endif
}

}  // namespace tandem::test
