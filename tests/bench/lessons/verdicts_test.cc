// SPDX-License-Identifier: Apache-2.0
//
// What each lesson comes to. Verdicts on numbers are facts of torch's semantics; those on times
// depend on the machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <string>

#include "bench/lessons/classroom.h"
#include "bench/lessons/lessons.h"
#include "common/comm/thread_bootstrap.h"

namespace tandem::bench {

// How GoogleTest names a lesson that failed its test.
void PrintTo(const Lesson* lesson, std::ostream* out) { *out << lesson->name; }

}  // namespace tandem::bench

namespace tandem::test {
namespace {

using bench::Lesson;
using bench::LessonFinding;
using bench::LessonVerdict;

const std::map<std::string_view, LessonVerdict>& verdicts() {
  constexpr LessonVerdict kTrue = LessonVerdict::kHolds;
  constexpr LessonVerdict kFalse = LessonVerdict::kDoesNotHold;
  static const std::map<std::string_view, LessonVerdict> all{
      {"parameters-never-update", kFalse},
      {"replica-updates-lost", kTrue},
      {"forward-state-lost", kTrue},
      {"gradients-averaged", kFalse},
      {"mean-of-losses", kFalse},
      {"update-on-every-device", kFalse},
      {"independent-copies", kFalse},
      {"old-weights", kFalse},
      {"replicas-rebuilt", kTrue},
      {"backward-on-one-device", kFalse},
      {"model-on-first-device", kTrue},
      {"device-ids-in-any-order", kTrue},
      {"inputs-on-device", kFalse},
      {"misplaced-tensor", kTrue},
      {"custom-parameter", kFalse},
      {"sixteen-each", kTrue},
      {"even-split", kFalse},
      {"batch-of-one", kTrue},
      {"batch-of-two", kTrue},
      {"uneven-batches-fail", kFalse},
      {"padded-batches-break", kFalse},
      {"output-shape", kTrue},
      {"scalar-outputs", kFalse},
      {"root-memory", kTrue},
  };
  return all;
}

LessonFinding run(const Lesson& lesson) {
  ThreadGroup alone(1);
  const auto bootstrap = alone.join(0);
  bench::Classroom room(*bootstrap);
  return lesson.run(room);
}

std::string text_of(const LessonFinding& finding) {
  std::string text;
  for (const std::string& line : finding.evidence) text += line + "\n";
  return text;
}

std::string test_name(const testing::TestParamInfo<const Lesson*>& info) {
  std::string name(info.param->name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

enum class Subject { kNumbers, kTimes };

std::vector<const Lesson*> lessons_on(Subject subject) {
  std::vector<const Lesson*> chosen;
  for (const Lesson* const lesson : bench::all_lessons()) {
    const bool expected = verdicts().count(lesson->name) == 1;
    if (expected == (subject == Subject::kNumbers)) chosen.push_back(lesson);
  }
  return chosen;
}

class NumericLessonTest : public testing::TestWithParam<const Lesson*> {};

TEST_P(NumericLessonTest, ComesToTheVerdictOfTorchsSemantics) {
  const LessonFinding finding = run(*GetParam());
  EXPECT_EQ(to_string(finding.verdict), to_string(verdicts().at(GetParam()->name)))
      << text_of(finding);
  EXPECT_FALSE(finding.evidence.empty());
}

INSTANTIATE_TEST_SUITE_P(All, NumericLessonTest, testing::ValuesIn(lessons_on(Subject::kNumbers)),
                         test_name);

// They run as two ranks, in lessons.all.
TEST(LessonsTest, WhatIsTimed_HasACoreToEachDevice) {
  for (const Lesson* const lesson : lessons_on(Subject::kTimes)) {
    EXPECT_GT(lesson->reach.cores, 1) << lesson->name;
  }
}

TEST(LessonsTest, EveryVerdictThatIsExpected_IsOfALesson) {
  EXPECT_EQ(lessons_on(Subject::kNumbers).size(), verdicts().size());
}

}  // namespace
}  // namespace tandem::test
