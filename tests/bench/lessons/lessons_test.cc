// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/lessons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <sstream>
#include <string>

#include "tests/support/errors.h"

namespace tandem::bench {

// How GoogleTest names a lesson that failed its test.
void PrintTo(const Lesson* lesson, std::ostream* out) { *out << lesson->name; }

}  // namespace tandem::bench

namespace tandem::test {
namespace {

using bench::Classroom;
using bench::Lesson;
using bench::LessonFinding;
using bench::Lessons;
using bench::LessonVerdict;
using testing::HasSubstr;

LessonFinding find_true(const Classroom&) { return {bench::holds_if(true), {"first", "second"}}; }
LessonFinding find_false(const Classroom&) { return {bench::holds_if(false), {}}; }
LessonFinding find_nothing(const Classroom&) {
  fail(ErrorKind::kFailure, "adding 1: it broke: mend it");
}

constexpr Lesson kTrueLesson{"true", "It is.", find_true, "a test"};
constexpr Lesson kFalseLesson{"false", "It is not.", find_false};
constexpr Lesson kBroken{"broken", "It breaks.", find_nothing};

struct Outcome {
  int status = 0;
  std::string text;
};

Outcome run(const Lessons& lessons) {
  const Classroom room;
  std::ostringstream out;
  const int status = run_lessons(lessons, room, out);
  return {status, out.str()};
}

stats::Estimate estimate(double low, double high) {
  return {.center = (low + high) / 2, .interval = stats::Interval{low, high}, .launches = 20};
}

TEST(RunLessonsTest, NeitherClaimNorContraryFound_OrBoth_DecidesNothing) {
  EXPECT_EQ(bench::decide(true, false), LessonVerdict::kHolds);
  EXPECT_EQ(bench::decide(false, true), LessonVerdict::kDoesNotHold);
  EXPECT_EQ(bench::decide(false, false), LessonVerdict::kNotDecidable);
  EXPECT_EQ(bench::decide(true, true), LessonVerdict::kNotDecidable);
}

TEST(RunLessonsTest, Above_DecidesOnlyWhereTheIntervalIsOnOneSideOfTheBar) {
  EXPECT_EQ(bench::above(estimate(1.2, 1.4), 1.05), LessonVerdict::kHolds);
  EXPECT_EQ(bench::above(estimate(0.9, 1.0), 1.05), LessonVerdict::kDoesNotHold);
  EXPECT_EQ(bench::above(estimate(1.0, 1.1), 1.05), LessonVerdict::kNotDecidable);
  EXPECT_EQ(bench::above({.center = 2, .interval = {}, .launches = 3}, 1),
            LessonVerdict::kNotDecidable);
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
  EXPECT_THAT(outcome.text, HasSubstr("verdict   does not hold"));
  EXPECT_THAT(outcome.text, HasSubstr("2 claims: 1 hold, 1 do not, 0 not decidable here"));
}

TEST(RunLessonsTest, BrokenLesson_SaysWhy_OthersStillRun_StatusIs1) {
  const Outcome outcome = run({&kBroken, &kTrueLesson});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.text,
              HasSubstr("verdict   could not be run\n   reason    adding 1: it broke"));
  EXPECT_THAT(outcome.text, HasSubstr("2. true\n"));
  EXPECT_THAT(outcome.text, HasSubstr("1 hold, 0 do not, 0 not decidable here, 1 could not"));
}

TEST(RunLessonsTest, MoreCoresNeeded_IsNotDecidable) {
  constexpr Lesson kOfMany{"many", "It takes many.", find_true, "a test", 9999};
  EXPECT_THAT(run({&kOfMany}).text, HasSubstr("needs 9999 cores"));
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
    EXPECT_THAT(out.str(), HasSubstr(std::string(lesson->claim)));
    EXPECT_TRUE(lesson->claim.ends_with('.')) << lesson->claim;
  }
}

// Facts of torch's semantics.
const std::map<std::string_view, LessonVerdict>& verdicts() {
  constexpr LessonVerdict kTrue = LessonVerdict::kHolds;
  constexpr LessonVerdict kFalse = LessonVerdict::kDoesNotHold;
  static const std::map<std::string_view, LessonVerdict> all{
      {"replica-updates-lost", kTrue},  {"forward-state-lost", kTrue},
      {"gradients-averaged", kFalse},   {"independent-copies", kFalse},
      {"replicas-rebuilt", kTrue},      {"model-on-first-device", kTrue},
      {"custom-parameter", kFalse},     {"even-split", kFalse},
      {"batch-of-one", kTrue},          {"uneven-batches-fail", kFalse},
      {"padded-batches-break", kFalse}, {"scalar-outputs", kFalse},
      {"root-memory", kTrue},
  };
  return all;
}

std::vector<const Lesson*> pointers_to(const std::vector<Lesson>& lessons) {
  std::vector<const Lesson*> all;
  for (const Lesson& lesson : lessons) all.push_back(&lesson);
  return all;
}

std::string test_name(const testing::TestParamInfo<const Lesson*>& info) {
  std::string name(info.param->name);
  std::ranges::replace(name, '-', '_');
  return name;
}

class NumericLessonTest : public testing::TestWithParam<const Lesson*> {};

TEST_P(NumericLessonTest, ComesToTheVerdictOfTorchsSemantics) {
  const Classroom room;
  const LessonFinding finding = GetParam()->run(room);
  ASSERT_TRUE(verdicts().contains(GetParam()->name));
  EXPECT_EQ(to_string(finding.verdict), to_string(verdicts().at(GetParam()->name)))
      << testing::PrintToString(finding.evidence);
  EXPECT_FALSE(finding.evidence.empty());
}

INSTANTIATE_TEST_SUITE_P(All, NumericLessonTest,
                         testing::ValuesIn(pointers_to(bench::number_lessons())), test_name);

// They run in lessons.all.
TEST(LessonsTest, WhatIsTimed_HasACoreToEachDevice) {
  for (const Lesson& lesson : bench::timed_lessons()) EXPECT_GT(lesson.cores, 1) << lesson.name;
}

TEST(LessonsTest, EveryVerdictThatIsExpected_IsOfALesson) {
  EXPECT_EQ(bench::number_lessons().size(), verdicts().size());
}

}  // namespace
}  // namespace tandem::test
