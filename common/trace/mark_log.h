// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace tandem {

// A timer's marks, kept for reuse, in the order in which the marks were made. Marks of a captured
// step are kept apart: each replay sets these marks anew, so that only the latest replay can be
// read.
template <class Mark>
class MarkLog {
 public:
  // Returns the next mark to be set: a forgotten mark, else a new one from `make`.
  template <class Make>
  Mark& next(const Make& make) {
    List& list = current();
    if (list.used == list.marks.size()) list.marks.push_back(make());
    return list.marks[list.used++];
  }

  // The latest mark; there must be one.
  [[nodiscard]] Mark& latest() { return current().marks[current().used - 1]; }

  // Forgets the latest marks for which `is_unwanted` is true.
  template <class Condition>
  void forget_latest_while(const Condition& is_unwanted) {
    List& list = current();
    while (list.used > 0 && is_unwanted(list.marks[list.used - 1])) --list.used;
  }

  void begin_capture() {
    captured_.used = 0;
    is_capturing_ = true;
  }
  void end_capture() { is_capturing_ = false; }
  void note_replay() { is_replayed_ = true; }

  // Returns all marks that were set since the last call, first the enqueued ones, then the marks of
  // the latest replay, and forgets the marks; the spans hold until next().
  [[nodiscard]] std::array<std::span<const Mark>, 2> take() {
    const std::size_t made = std::exchange(made_.used, 0);
    const std::size_t captured = std::exchange(is_replayed_, false) ? captured_.used : 0;
    return {std::span<const Mark>(made_.marks).first(made),
            std::span<const Mark>(captured_.marks).first(captured)};
  }

 private:
  struct List {
    std::vector<Mark> marks;  // the first `used` marks are set
    std::size_t used = 0;
  };

  [[nodiscard]] List& current() { return is_capturing_ ? captured_ : made_; }

  List made_;
  List captured_;
  bool is_capturing_ = false;
  bool is_replayed_ = false;
};

}  // namespace tandem
