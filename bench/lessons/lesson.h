// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tandem::bench {

class Classroom;

enum class Verdict { kHolds, kDoesNotHold, kNotDecidable };

// "holds", "does not hold", "not decidable here"
[[nodiscard]] std::string_view to_string(Verdict verdict);

[[nodiscard]] constexpr Verdict holds_if(bool fact) {
  return fact ? Verdict::kHolds : Verdict::kDoesNotHold;
}

// Where what the claim says and what is said against it were looked for: neither found, or both,
// decides nothing.
[[nodiscard]] constexpr Verdict decide(bool claimed, bool contrary) {
  return claimed == contrary ? Verdict::kNotDecidable : holds_if(claimed);
}

// What running a claim came to: never written down beforehand, always computed from what ran.
struct Finding {
  Verdict verdict = Verdict::kNotDecidable;
  std::vector<std::string> evidence{};  // lines
  std::string scope{};                  // what the verdict is true of
};

// How far a verdict reaches.
inline constexpr const char* kAlgorithm = "numerics: true of the algorithm anywhere";
inline constexpr const char* kHostOnly =
    "one launch on the host: says nothing about other launches, or GPUs";

enum class Ranks {
  kOne,  // rank 0 runs it alone while the others are parked
  kTwo,  // every rank runs it: one side of it is a process per device
};

// A claim that circulates about DataParallel, and how it is put to the test. The names that only
// one lesson needs stand in a namespace of the lesson's name: every lesson has a `run`, and several
// files are compiled as one unit.
struct Lesson {
  std::string_view name;
  std::string_view claim;  // a sentence
  Finding (*run)(Classroom&) = nullptr;
  Ranks ranks = Ranks::kOne;
  int cores = 1;  // that it needs: what times devices gives each a core of its own
};

}  // namespace tandem::bench
