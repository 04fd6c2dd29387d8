// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/job/job.h"
#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"
#include "common/runtime/host/cores.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

class Classroom;

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

// The result of running a claim: always computed from the run, never written down beforehand.
struct LessonFinding {
  LessonVerdict verdict = LessonVerdict::kNotDecidable;
  std::vector<std::string> evidence{};  // lines
};

enum class Ranks {
  kOne,  // rank 0 runs the lesson while the other ranks are parked
  kTwo,  // every rank runs the lesson, with a process per device
};

// How far a verdict reaches, and what it takes to come to one.
struct Reach {
  std::string_view scope = "numerics: true of the algorithm anywhere";
  Ranks ranks = Ranks::kOne;
  int cores = 1;  // cores that the lesson needs: timed devices have a core each
};

// A claim that circulates about DataParallel, and the test of the claim.
struct Lesson {
  std::string_view name;
  std::string_view claim;  // a sentence
  LessonFinding (*run)(Classroom&) = nullptr;
  Reach reach{};
};

// The place where lessons run: the cores that this rank's process may use, and the other ranks.
// Host back end only. Binds the calling thread to a core for the classroom's life.
class Classroom {
 public:
  // Collective. `bootstrap` outlives the classroom.
  explicit Classroom(Bootstrap& bootstrap);

  [[nodiscard]] bool is_first() const { return bootstrap_.rank() == 0; }
  [[nodiscard]] int ranks() const { return bootstrap_.size(); }
  [[nodiscard]] int cores() const { return static_cast<int>(cores_.size()); }
  [[nodiscard]] Bootstrap& bootstrap() { return bootstrap_; }

  // Logical devices of this process: each on a core of its own while there are enough cores, else
  // devices share cores, which changes times but no numbers.
  [[nodiscard]] std::unique_ptr<Platform> devices(int count, const HostDebug& debug = {}) const;

  // Waits, parked, until every rank has called meet().
  void meet() { meeting_->barrier(); }

  // Runs `body` on every rank, each rank with a device on a core of its own. Where `body` throws on
  // one rank, the other ranks' waits end soon, and all ranks throw the first failure. Collective.
  [[nodiscard]] LessonFinding together(const std::function<LessonFinding(Job&)>& body);

 private:
  Bootstrap& bootstrap_;
  const std::vector<int> cores_;  // allowed cores, before this thread was bound
  const host::ScopedBinding binding_;
  const std::unique_ptr<Platform> platform_;  // the platform of the meeting
  const std::unique_ptr<Communicator> meeting_;
};

}  // namespace tandem::bench
