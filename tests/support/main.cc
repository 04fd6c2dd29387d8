// SPDX-License-Identifier: Apache-2.0
//
// The main of GoogleTest programs: GoogleTest's own, and with --report-skips a status by which
// ctest knows that every case was skipped (77), which otherwise is 0 like that of cases that all
// ran.
#include <gtest/gtest.h>

#include <string_view>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const bool reports = argc == 2 && std::string_view(argv[1]) == "--report-skips";
  const int status = RUN_ALL_TESTS();
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  const bool skipped = all.skipped_test_count() == all.test_to_run_count();
  return status == 0 && reports && skipped ? 77 : status;
}
