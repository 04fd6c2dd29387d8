// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tandem::bench {

class Classroom;

enum class Verdict { kHolds, kDoesNotHold, kNotDecidable };

// The verdict in words: "holds", "does not hold", "not decidable here".
[[nodiscard]] std::string_view to_string(Verdict verdict);

[[nodiscard]] constexpr Verdict holds_if(bool fact) {
  return fact ? Verdict::kHolds : Verdict::kDoesNotHold;
}

// The verdict on a claim and on its contrary, each of which a lesson looked for: finding neither,
// or both, decides nothing.
[[nodiscard]] constexpr Verdict decide(bool claimed, bool contrary) {
  return claimed == contrary ? Verdict::kNotDecidable : holds_if(claimed);
}

// The result of running a claim: always computed from the run, never written down beforehand.
struct Finding {
  Verdict verdict = Verdict::kNotDecidable;
  std::vector<std::string> evidence{};  // lines
  std::string scope{};                  // where the verdict is true
};

// The reach of a verdict.
inline constexpr const char* kAlgorithm = "numerics: true of the algorithm anywhere";
inline constexpr const char* kHostOnly =
    "one launch on the host: says nothing about other launches, or GPUs";

enum class Ranks {
  kOne,  // rank 0 runs the lesson while the other ranks are parked
  kTwo,  // every rank runs the lesson, with a process per device
};

// A claim that circulates about DataParallel, and the test of the claim. Names that only one lesson
// needs stand in a namespace of the lesson's name, since every lesson has a `run`, and several
// files are compiled as one unit.
struct Lesson {
  std::string_view name;
  std::string_view claim;  // a sentence
  Finding (*run)(Classroom&) = nullptr;
  Ranks ranks = Ranks::kOne;
  int cores = 1;  // cores that the lesson needs: timed devices have a core each
};

}  // namespace tandem::bench
