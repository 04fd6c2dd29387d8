// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "bench/lessons/classroom.h"
#include "bench/lessons/lesson.h"

namespace tandem::bench {

using Lessons = std::vector<const Lesson*>;

// Those named, in the order of `all`; all of them where no name is given. Throws a usage error that
// lists the known ones.
[[nodiscard]] Lessons choose_lessons(const Lessons& all, const std::vector<std::string>& names);

// A line each: name and claim.
void list_lessons(const Lessons& lessons, std::ostream& out);

// Collective. Runs them one after the other, and rank 0 writes to `out` what each came to. A lesson
// that could not be run is said to be so, and the others still run. 0, or 1 where one could not be
// run: a verdict is none of the exit status's business.
[[nodiscard]] int run_lessons(const Lessons& lessons, Classroom& room, std::ostream& out);

}  // namespace tandem::bench
