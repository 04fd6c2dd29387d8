// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/replay/call_log.h"

#include <gtest/gtest.h>

#include <fstream>
#include <variant>

#include "tests/replay/log_text.h"
#include "tests/support/errors.h"

namespace tandem::replay {
namespace {

using test::LogText;

LogText two_marks(int pid = 1) { return LogText(pid).mark({0, 0, 0}).mark({0, 9, 9}); }

std::string refusal_of(const test::ScratchFolder& folder) {
  return test::error_of([&] { (void)read_call_logs(folder / "calls"); }).what();
}

TEST(CallLog, Calls_LieInTheOrderOfTime) {
  const test::ScratchFolder folder;
  LogText log;
  log.mark({0, 0, 0}).mark({0, 50, 50}).fill({1, 20, 3}, 64, 1, 7);
  log.write_into(folder);
  const std::vector<LoggedProcess> processes = read_call_logs(folder / "calls");
  ASSERT_EQ(processes.size(), 1U);
  const LoggedCall& call = processes[0].calls.at(1);
  EXPECT_EQ(call.time, Nanoseconds{20});
  EXPECT_EQ(call.device, 1);
  EXPECT_EQ(call.stream, 7);
  EXPECT_EQ(std::get<MemoryFill>(call.asked).size, Bytes{64});
  ASSERT_EQ(processes[0].steps.size(), 1U);
  EXPECT_EQ(processes[0].steps[0].begin, 0U);
  EXPECT_EQ(processes[0].steps[0].end, 2U);
}

TEST(CallLog, AMarkOfAnEnd_BeginsNoStep) {
  const test::ScratchFolder folder;
  LogText log;
  log.mark({0, 0, 0}).mark({0, 10, 10}, "end").mark({0, 20, 20}).mark({0, 30, 30}, "end");
  log.write_into(folder);
  const std::vector<LoggedProcess> processes = read_call_logs(folder / "calls");
  ASSERT_EQ(processes.at(0).steps.size(), 2U);
  EXPECT_EQ(processes.at(0).steps[1].begin, 2U);
}

TEST(CallLog, ProcessesWithoutMarks_AreLeftOut) {
  const test::ScratchFolder folder;
  two_marks(1).write_into(folder);
  LogText(2).write_into(folder);
  EXPECT_EQ(read_call_logs(folder.path()).size(), 1U);
}

TEST(CallLog, AnotherVersion_IsRefused) {
  const test::ScratchFolder folder;
  LogText(1, 0, 3).write_into(folder);
  EXPECT_NE(refusal_of(folder).find("the log is of version 3, and this program reads version 2"),
            std::string::npos);
}

TEST(CallLog, AFileOfSomethingElse_IsRefused) {
  const test::ScratchFolder folder;
  std::ofstream(folder / "calls.1") << "{\"what\":\"thread\"}\n";
  EXPECT_NE(refusal_of(folder).find("it is no log of pretended GPUs"), std::string::npos);
}

TEST(CallLog, AKilledProcess_IsRefused) {
  const test::ScratchFolder folder;
  two_marks().write_into(folder, true);
  EXPECT_NE(refusal_of(folder).find("its last line is no 'end'"), std::string::npos);
}

TEST(CallLog, ALineThatIsCutOff_TellsItsNumber) {
  const test::ScratchFolder folder;
  two_marks().write_into(folder, true);
  std::ofstream(folder / "calls.1", std::ios::app) << "{\"t\":12,\"wh\n";
  EXPECT_NE(refusal_of(folder).find("line 4"), std::string::npos) << refusal_of(folder);
}

TEST(CallLog, NoFile_IsRefused) {
  const test::ScratchFolder folder;
  EXPECT_NE(refusal_of(folder).find("there is no such log"), std::string::npos);
}

TEST(CallLog, NoMarks_AreRefused) {
  const test::ScratchFolder folder;
  LogText().write_into(folder);
  EXPECT_NE(refusal_of(folder).find("marked where its steps begin"), std::string::npos);
}

TEST(CallLog, UnequalSteps_AreRefused) {
  const test::ScratchFolder folder;
  two_marks(1).write_into(folder);
  two_marks(2).mark({0, 10, 10}).write_into(folder);
  EXPECT_NE(refusal_of(folder).find("has 2 steps, and"), std::string::npos) << refusal_of(folder);
}

TEST(CallLog, AGpuThatTheProcessDoesNotSee_IsRefused) {
  const test::ScratchFolder folder;
  two_marks().fill({0, 5, 5}, 1, 2).write_into(folder);
  EXPECT_NE(refusal_of(folder).find("is a GPU beyond the 2"), std::string::npos);
}

// ---- numbers out of their ranges ----

std::string refusal_of_call(std::string_view what, std::string_view more) {
  const LogText log = two_marks().call({0, 5, 5}, what, "call", 0, 0, more);
  const std::string text =
      test::error_of([&] { (void)parse_call_log(log.whole_text(), "a.log"); }).what();
  EXPECT_EQ(text.find('\n'), std::string::npos);
  return text;
}

TEST(CallLog, RanksOutOfTheirRange_AreRefused) {
  for (const char* const ranks : {"-1", "0", "2000000000"}) {
    const std::string more = fmt::format(
        R"("collective":"all-reduce","bytes":8,"rank":0,"ranks":{},"communicator":1,"group":0)",
        ranks);
    EXPECT_NE(refusal_of_call("collective", more).find("ranks"), std::string::npos) << ranks;
  }
  const std::string beyond = refusal_of_call(
      "collective",
      R"("collective":"all-reduce","bytes":8,"rank":2,"ranks":2,"communicator":1,"group":0)");
  EXPECT_NE(beyond.find("rank"), std::string::npos) << beyond;
}

TEST(CallLog, SizesAndProductsOutOfTheirRange_AreRefused) {
  EXPECT_NE(refusal_of_call("fill", R"("bytes":1099511627777)").find("bytes"), std::string::npos);
  EXPECT_NE(refusal_of_call("launch", R"("kernel":"k","block":[1],"grid":[65536,65536,2],)"
                                      R"("elements":0)")
                .find("has a product over 4294967296"),
            std::string::npos);
  EXPECT_NE(refusal_of_call("product", R"("m":1048577,"n":1,"k":1048577,"batch":1,"type":"f32")")
                .find("has a product over"),
            std::string::npos);
  EXPECT_NE(refusal_of_call("convolution",
                            R"("operations":[{"operation":"o","x":[1048577,1048577,4294967296]}])")
                .find("has a product over"),
            std::string::npos);
}

TEST(CallLog, TimesOutOfTheirRange_AreRefused) {
  LogText log;
  log.mark({0, 4'000'000'000'000'000'001, 0});
  const std::string text =
      test::error_of([&] { (void)parse_call_log(log.whole_text(), "a.log"); }).what();
  EXPECT_NE(text.find("a.log line 2"), std::string::npos) << text;
}

}  // namespace
}  // namespace tandem::replay
