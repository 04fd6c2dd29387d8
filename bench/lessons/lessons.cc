// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/lessons.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>

#include "common/base/error.h"
#include "common/base/known_names.h"
#include "common/comm/bootstrap.h"

namespace tandem::bench {

Lessons all_lessons() {
  Lessons all;
  for (const auto* const kind : {&replica_lessons(), &batch_lessons(), &timed_lessons()}) {
    for (const Lesson& lesson : *kind) all.push_back(&lesson);
  }
  return all;
}

namespace {

// The resource that is missing on this machine or in this job for the lesson to be decided; empty:
// none.
std::string missing(const Lesson& lesson, const Classroom& room) {
  if (room.cores() < lesson.reach.cores) {
    return fmt::format("needs {} cores, a device on each, and {} may be used here",
                       lesson.reach.cores, room.cores());
  }
  if (lesson.reach.ranks == Ranks::kTwo && room.ranks() < 2) {
    return "needs two processes, and one was started: run tandem lessons";
  }
  return "";
}

LessonFinding find(const Lesson& lesson, Classroom& room) {
  if (const std::string what = missing(lesson, room); !what.empty()) {
    return {LessonVerdict::kNotDecidable, {what + "; nothing was run"}};
  }
  LessonFinding finding;
  if (lesson.reach.ranks == Ranks::kOne) {
    if (room.is_first()) finding = lesson.run(room);
    return finding;
  }
  attempt_together(room.bootstrap(), [&] { finding = lesson.run(room); });
  return finding;
}

// Writes the first line after `label`, and the other lines below the first.
void write_field(std::ostream& out, std::string_view label, const std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out << fmt::format("   {:<9} {}\n", i == 0 ? label : "", lines[i]);
  }
}

// Counts the lessons by outcome.
class Count {
 public:
  void add(LessonVerdict verdict) { ++verdicts_[static_cast<std::size_t>(verdict)]; }
  void add_failure() { ++failures_; }
  [[nodiscard]] int failures() const { return failures_; }

  [[nodiscard]] std::string text() const {
    const int all = verdicts_[0] + verdicts_[1] + verdicts_[2] + failures_;
    std::string text = fmt::format("{} claim{}: {} hold, {} do not, {} not decidable here", all,
                                   all == 1 ? "" : "s", verdicts_[0], verdicts_[1], verdicts_[2]);
    if (failures_ > 0) text += fmt::format(", {} could not be run", failures_);
    return text;
  }

 private:
  std::array<int, 3> verdicts_{};  // number of lessons, by LessonVerdict
  int failures_ = 0;
};

void write_finding(std::ostream& out, const LessonFinding& finding, std::string_view scope) {
  write_field(out, "verdict", {std::string(to_string(finding.verdict))});
  write_field(out, "evidence", finding.evidence);
  write_field(out, "scope", {std::string(scope)});
}

}  // namespace

std::string_view to_string(LessonVerdict verdict) {
  switch (verdict) {
    case LessonVerdict::kHolds:
      return "holds";
    case LessonVerdict::kDoesNotHold:
      return "does not hold";
    case LessonVerdict::kNotDecidable:
      return "not decidable here";
  }
  fail(ErrorKind::kLogic, "a verdict without a name");
}

Lessons choose_lessons(const Lessons& all, const std::vector<std::string>& names) {
  if (names.empty()) return all;
  const auto named = [](const std::string& name) {
    return [&name](const Lesson* lesson) { return lesson->name == name; };
  };
  for (const std::string& name : names) {
    if (std::any_of(all.begin(), all.end(), named(name))) continue;
    std::vector<std::string_view> known;
    for (const Lesson* const lesson : all) known.push_back(lesson->name);
    fail_unknown("lesson", name, known);
  }
  Lessons chosen;
  for (const Lesson* const lesson : all) {
    if (std::find(names.begin(), names.end(), lesson->name) != names.end()) {
      chosen.push_back(lesson);
    }
  }
  return chosen;
}

void list_lessons(const Lessons& lessons, std::ostream& out) {
  for (const Lesson* const lesson : lessons) {
    out << fmt::format("{:<26} {}\n", lesson->name, lesson->claim);
  }
}

int run_lessons(const Lessons& lessons, Classroom& room, std::ostream& out) {
  std::ostream nobody(nullptr);
  std::ostream& mine = room.is_first() ? out : nobody;
  Count count;
  int number = 0;
  for (const Lesson* const lesson : lessons) {
    room.meet();
    mine << ++number << ". " << lesson->name << '\n';
    write_field(mine, "claim", {std::string(lesson->claim)});
    LessonFinding finding;
    const auto error = capture_error([&] { finding = find(*lesson, room); });
    if (error) {
      count.add_failure();
      write_field(mine, "verdict", {"could not be run"});
      write_field(mine, "reason", {error->what()});
    } else {
      count.add(finding.verdict);
      write_finding(mine, finding, lesson->reach.scope);
    }
    mine << std::endl;
  }
  room.meet();
  mine << count.text() << std::endl;
  return count.failures() == 0 ? 0 : 1;
}

}  // namespace tandem::bench
