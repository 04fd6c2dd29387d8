// SPDX-License-Identifier: Apache-2.0
//
// Claims that circulate about DataParallel, each with the test of the claim: claims about numbers
// are true of the algorithm anywhere, claims about times of this machine and launch.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/runtime/host/cores.h"
#include "common/runtime/platform.h"
#include "common/stats/estimate.h"

namespace tandem::bench {

enum class LessonVerdict { kHolds, kDoesNotHold, kNotDecidable };

// The verdict in words: "holds", "does not hold", "not decidable here".
[[nodiscard]] std::string_view to_string(LessonVerdict verdict);

[[nodiscard]] constexpr LessonVerdict holds_if(bool fact) {
  return fact ? LessonVerdict::kHolds : LessonVerdict::kDoesNotHold;
}

// The verdict on a claim and on its contrary, each of which a lesson looked for: finding neither,
// or both, decides nothing.
[[nodiscard]] constexpr LessonVerdict decide(bool claimed, bool contrary) {
  return claimed == contrary ? LessonVerdict::kNotDecidable : holds_if(claimed);
}

// Holds above the bar, does not hold below the bar, and is undecided where the interval contains
// the bar.
[[nodiscard]] LessonVerdict above(const stats::Estimate& estimate, double bar);

// The result of running a claim: always computed from the run, never written down beforehand.
struct LessonFinding {
  LessonVerdict verdict = LessonVerdict::kNotDecidable;
  std::vector<std::string> evidence{};  // lines
};

// The place where lessons run: the cores that this process may use. Host back end only. Binds the
// calling thread to a core for the classroom's life.
class Classroom {
 public:
  Classroom() : cores_(host::allowed_cores()), binding_(cores_.front()) {}

  [[nodiscard]] int cores() const { return static_cast<int>(cores_.size()); }

  // Logical devices of this process: each on a core of its own while there are enough cores, else
  // devices share cores, which changes times but no numbers.
  [[nodiscard]] std::unique_ptr<Platform> devices(int count) const;

 private:
  const std::vector<int> cores_;  // allowed cores, before this thread was bound
  const host::ScopedBinding binding_;
};

// A claim that circulates about DataParallel, and the test of the claim.
struct Lesson {
  std::string_view name;
  std::string_view claim;  // a sentence
  LessonFinding (*run)(const Classroom&) = nullptr;
  std::string_view scope = "numerics: true of the algorithm anywhere";
  int cores = 1;  // that the lesson needs: timed devices have a core each
};

using Lessons = std::vector<const Lesson*>;

// The lessons by kind, each a table of claims.
[[nodiscard]] const std::vector<Lesson>& number_lessons();
[[nodiscard]] const std::vector<Lesson>& timed_lessons();

// All lessons, those on numbers first.
[[nodiscard]] Lessons all_lessons();

// The named lessons, in the order of `all`; all lessons where no name is given. Throws a usage
// error that lists the known names.
[[nodiscard]] Lessons choose_lessons(const Lessons& all, const std::vector<std::string>& names);

// Writes a line for each lesson: name and claim.
void list_lessons(const Lessons& lessons, std::ostream& out);

// Runs the lessons one after the other, and writes each finding to `out`. A lesson that could not
// be run is reported, and the other lessons still run. Returns 0, or 1 where a lesson could not be
// run: verdicts do not change the exit status.
[[nodiscard]] int run_lessons(const Lessons& lessons, const Classroom& room, std::ostream& out);

}  // namespace tandem::bench
