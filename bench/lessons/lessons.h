// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "bench/lessons/classroom.h"

namespace tandem::bench {

using Lessons = std::vector<const Lesson*>;

// The named lessons, in the order of `all`; all lessons where no name is given. Throws a usage
// error that lists the known names.
[[nodiscard]] Lessons choose_lessons(const Lessons& all, const std::vector<std::string>& names);

// Writes a line for each lesson: name and claim.
void list_lessons(const Lessons& lessons, std::ostream& out);

// Runs the lessons one after the other, and rank 0 writes each finding to `out`. A lesson that
// could not be run is reported, and the other lessons still run. Returns 0, or 1 where a lesson
// could not be run: verdicts do not change the exit status. Collective.
[[nodiscard]] int run_lessons(const Lessons& lessons, Classroom& room, std::ostream& out);

// The lessons by kind, each a table of claims.
[[nodiscard]] const std::vector<Lesson>& replica_lessons();
[[nodiscard]] const std::vector<Lesson>& batch_lessons();
[[nodiscard]] const std::vector<Lesson>& timed_lessons();

// All lessons in the order of telling: what happens to the numbers, what is asked of the user and
// how batches are cut, then times.
[[nodiscard]] Lessons all_lessons();

}  // namespace tandem::bench
