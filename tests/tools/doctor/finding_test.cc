// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/doctor/finding.h"

#include <gtest/gtest.h>

#include "common/base/error.h"

namespace tandem::doctor {
namespace {

const Findings kAll{ok("cores", "2"), warning("swap", "much", "less of it"),
                    problem("mpi", "none", "install it"), not_checked("gpus", "there is none")};

TEST(Finding, AProblemAlone_IsAFailure) {
  EXPECT_EQ(exit_code(kAll), kVerdictExit);
  EXPECT_EQ(exit_code({ok("a", "b"), warning("c", "d", "e"), not_checked("f", "g")}), 0);
}

TEST(Finding, TextHasTheCounts_AndWhatToDo) {
  EXPECT_EQ(to_text(kAll, {.columns = 25}),
            "1 problem, 1 warning, 1\nok, 1 not checked;\n--details has all\n"
            "warning      swap: much\n"
            "             -> less of\n"
            "                it\n"
            "problem      mpi: none\n"
            "             -> install\n"
            "                it\n");
}

TEST(Finding, DetailsHaveALineEach) {
  EXPECT_EQ(to_text(kAll, {.has_details = true}),
            "1 problem, 1 warning, 1 ok, 1 not checked\n"
            "ok           cores: 2\n"
            "warning      swap: much\n"
            "             -> less of it\n"
            "problem      mpi: none\n"
            "             -> install it\n"
            "not checked  gpus: there is none\n");
}

TEST(Finding, JsonHasLevelsAndCounts) {
  const std::string json = to_json({problem("mpi", "no \"mpirun\"", "install it")});
  EXPECT_NE(json.find(R"("what": "no \"mpirun\"")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("level": "problem")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("problems": 1)"), std::string::npos) << json;
}

TEST(Finding, TextThatIsCutWithinACharacter_IsStillJson) {
  EXPECT_NE(to_json({problem("mpi", "\xc3", "")}).find("\"problems\": 1"), std::string::npos);
}

}  // namespace
}  // namespace tandem::doctor
