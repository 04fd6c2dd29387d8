// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/lessons.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "common/comm/thread_bootstrap.h"
#include "tests/support/errors.h"

namespace tandem::test {
namespace {

using bench::Classroom;
using bench::Lesson;
using bench::LessonFinding;
using bench::Lessons;
using bench::LessonVerdict;

LessonFinding find_true(Classroom&) { return {bench::holds_if(true), {"first", "second"}}; }
LessonFinding find_false(Classroom&) { return {bench::holds_if(false), {}}; }
LessonFinding find_nothing(Classroom&) { fail(ErrorKind::kFailure, "adding 1: it broke: mend it"); }

constexpr Lesson kTrueLesson{"true", "It is.", find_true, {.scope = "a test"}};
constexpr Lesson kFalseLesson{"false", "It is not.", find_false};
constexpr Lesson kBroken{"broken", "It breaks.", find_nothing};

struct Outcome {
  int status = 0;
  std::string text;
};

Outcome run(const Lessons& lessons) {
  ThreadGroup alone(1);
  const auto bootstrap = alone.join(0);
  Classroom room(*bootstrap);
  std::ostringstream out;
  const int status = run_lessons(lessons, room, out);
  return {status, out.str()};
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(RunLessonsTest, NeitherClaimNorContraryFound_OrBoth_DecidesNothing) {
  EXPECT_EQ(bench::decide(true, false), LessonVerdict::kHolds);
  EXPECT_EQ(bench::decide(false, true), LessonVerdict::kDoesNotHold);
  EXPECT_EQ(bench::decide(false, false), LessonVerdict::kNotDecidable);
  EXPECT_EQ(bench::decide(true, true), LessonVerdict::kNotDecidable);
}

TEST(RunLessonsTest, Block_HasNumberClaimVerdictEvidenceAndScope) {
  EXPECT_EQ(run({&kTrueLesson}).text,
            "1. true\n"
            "   claim     It is.\n"
            "   verdict   holds\n"
            "   evidence  first\n"
            "             second\n"
            "   scope     a test\n"
            "\n"
            "1 claim: 1 hold, 0 do not, 0 not decidable here\n");
}

TEST(RunLessonsTest, Verdicts_AreNoneOfTheExitStatus) {
  const Outcome outcome = run({&kTrueLesson, &kFalseLesson});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(holds(outcome.text, "verdict   does not hold"));
  EXPECT_TRUE(holds(outcome.text, "2 claims: 1 hold, 1 do not, 0 not decidable here"));
}

TEST(RunLessonsTest, BrokenLesson_SaysWhy_OthersStillRun_StatusIs1) {
  const Outcome outcome = run({&kBroken, &kTrueLesson});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(holds(outcome.text, "verdict   could not be run\n   reason    adding 1: it broke"));
  EXPECT_TRUE(holds(outcome.text, "2. true\n"));
  EXPECT_TRUE(holds(outcome.text, "2 claims: 1 hold, 0 do not, 0 not decidable here, 1 could not"));
}

TEST(RunLessonsTest, BrokenLessonOfTwoRanks_SaysWhyOnce_OthersStillRun) {
  static constexpr Lesson kBrokenThere{
      "there",
      "It breaks on rank 1.",
      [](Classroom& room) -> LessonFinding {
        return room.together([&](bench::Job& job) -> LessonFinding {
          if (!room.is_first()) fail(ErrorKind::kFailure, "rank 1 broke");
          job.communicator->barrier();  // must not be waited for in vain
          return {};
        });
      },
      {.ranks = bench::Ranks::kTwo}};
  std::vector<std::ostringstream> out(2);
  std::vector<int> statuses(2);
  run_ranks_as_threads(2, [&](Bootstrap& bootstrap) {
    const auto rank = static_cast<std::size_t>(bootstrap.rank());
    Classroom room(bootstrap);
    statuses[rank] = run_lessons({&kBrokenThere, &kTrueLesson}, room, out[rank]);
  });
  EXPECT_EQ(statuses[0], 1);
  EXPECT_EQ(out[1].str(), "");
  EXPECT_TRUE(holds(out[0].str(), "could not be run\n   reason    rank 1 broke\n"));
  EXPECT_EQ(out[0].str().find("reason"), out[0].str().rfind("reason"));
  EXPECT_TRUE(holds(out[0].str(), "2. true"));
}

TEST(RunLessonsTest, TwoRanksNeeded_ButOneStarted_IsNotDecidable) {
  constexpr Lesson kOfTwo{"two", "It takes two.", find_true, {.ranks = bench::Ranks::kTwo}};
  const Outcome outcome = run({&kOfTwo});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(holds(outcome.text, "not decidable here"));
  EXPECT_TRUE(holds(outcome.text, "run tandem lessons"));
}

TEST(RunLessonsTest, MoreCoresNeeded_IsNotDecidable) {
  constexpr Lesson kOfMany{"many", "It takes many.", find_true, {.cores = 9999}};
  EXPECT_TRUE(holds(run({&kOfMany}).text, "needs 9999 cores"));
}

TEST(RunLessonsTest, UnknownName_IsAUsageError_ThatListsTheKnown) {
  const Error error = error_of([] {
    static_cast<void>(bench::choose_lessons({&kTrueLesson, &kFalseLesson}, {"no"}));
  });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_STREQ(error.what(), "lesson: 'no' is unknown; known are true, false");
}

TEST(RunLessonsTest, Names_ChooseInTheOrderOfAll) {
  const Lessons all{&kTrueLesson, &kBroken, &kFalseLesson};
  EXPECT_EQ(bench::choose_lessons(all, {"false", "true"}), (Lessons{&kTrueLesson, &kFalseLesson}));
  EXPECT_EQ(bench::choose_lessons(all, {}), all);
}

TEST(RunLessonsTest, List_NamesEveryLessonOnce) {
  std::ostringstream out;
  list_lessons(bench::all_lessons(), out);
  std::set<std::string_view> names;
  for (const Lesson* const lesson : bench::all_lessons()) {
    EXPECT_TRUE(names.insert(lesson->name).second) << lesson->name;
    EXPECT_TRUE(holds(out.str(), std::string(lesson->claim))) << lesson->name;
    EXPECT_TRUE(lesson->claim.ends_with('.')) << lesson->claim;
  }
}

}  // namespace
}  // namespace tandem::test
