// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/lessons.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ostream>

#include "common/base/error.h"
#include "common/base/known_names.h"
#include "common/base/lines.h"
#include "common/runtime/registry.h"

namespace tandem::bench {
namespace {

LessonFinding find(const Lesson& lesson, const Classroom& room) {
  if (room.cores() >= lesson.cores) return lesson.run(room);
  return {LessonVerdict::kNotDecidable,
          {fmt::format("needs {} cores, a device on each, and {} may be used here; nothing was run",
                       lesson.cores, room.cores())}};
}

// Writes the first line after `label`, and the other lines below the first.
void write_field(std::ostream& out, std::string_view label, const std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out << to_lines(lines[i], columns_of(STDOUT_FILENO),
                    fmt::format("   {:<9} ", i == 0 ? label : ""));
  }
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

LessonVerdict above(const stats::Estimate& estimate, double bar) {
  if (!estimate.interval || estimate.interval->holds(bar)) return LessonVerdict::kNotDecidable;
  return holds_if(estimate.interval->low > bar);
}

std::unique_ptr<Platform> Classroom::devices(int count) const {
  PlatformOptions options;
  options.devices = count;
  options.oversubscribe = count > cores();
  options.cores = cores_;
  return make_platform(BackendChoice::kHost, options);
}

Lessons all_lessons() {
  Lessons all;
  for (const auto* const kind : {&number_lessons(), &timed_lessons()}) {
    for (const Lesson& lesson : *kind) all.push_back(&lesson);
  }
  return all;
}

Lessons choose_lessons(const Lessons& all, const std::vector<std::string>& names) {
  if (names.empty()) return all;
  std::vector<std::string_view> known;
  for (const Lesson* const lesson : all) known.push_back(lesson->name);
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    fail_unknown("lesson", name, known);
  }
  Lessons chosen;
  for (const Lesson* const lesson : all) {
    if (std::ranges::find(names, lesson->name) != names.end()) chosen.push_back(lesson);
  }
  return chosen;
}

void list_lessons(const Lessons& lessons, std::ostream& out) {
  for (const Lesson* const lesson : lessons) {
    out << fmt::format("{:<26} {}\n", lesson->name, lesson->claim);
  }
}

int run_lessons(const Lessons& lessons, const Classroom& room, std::ostream& out) {
  std::array<int, 3> verdicts{};  // number of lessons, by LessonVerdict
  int failures = 0;
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    const Lesson& lesson = *lessons[i];
    out << fmt::format("{}. {}\n", i + 1, lesson.name);
    write_field(out, "claim", {std::string(lesson.claim)});
    LessonFinding finding;
    if (const auto error = capture_error([&] { finding = find(lesson, room); })) {
      ++failures;
      write_field(out, "verdict", {"could not be run"});
      write_field(out, "reason", {error->what()});
    } else {
      ++verdicts.at(static_cast<std::size_t>(finding.verdict));
      write_field(out, "verdict", {std::string(to_string(finding.verdict))});
      write_field(out, "evidence", finding.evidence);
      write_field(out, "scope", {std::string(lesson.scope)});
    }
    out << std::endl;
  }
  out << fmt::format("{} claim{}: {} hold, {} do not, {} not decidable here{}", lessons.size(),
                     lessons.size() == 1 ? "" : "s", verdicts[0], verdicts[1], verdicts[2],
                     failures > 0 ? fmt::format(", {} could not be run", failures) : "")
      << std::endl;
  return failures == 0 ? 0 : 1;
}

}  // namespace tandem::bench
