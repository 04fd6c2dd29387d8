// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace tandem {

// A timer's marks, kept for reuse, in the order in which they were made. Those of a captured step
// are kept apart: each replay sets them anew, so that of several only the latest can be read.
template <class Mark>
class MarkLog {
 public:
  // The next one to be set: one that was forgotten, else what `make` makes.
  template <class Make>
  Mark& next(const Make& make) {
    List& list = current();
    if (list.used == list.marks.size()) list.marks.push_back(make());
    return list.marks[list.used++];
  }

  // The latest one; there is one.
  [[nodiscard]] Mark& latest() { return current().marks[current().used - 1]; }

  // Forgets the latest ones for which `is_unwanted` is true.
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

  // All that were set since the last call: what was enqueued as it is, then the latest replay.
  // Forgets them; the spans hold until next().
  [[nodiscard]] std::array<std::span<const Mark>, 2> take() {
    const std::size_t made = std::exchange(made_.used, 0);
    const std::size_t captured = std::exchange(is_replayed_, false) ? captured_.used : 0;
    return {std::span<const Mark>(made_.marks).first(made),
            std::span<const Mark>(captured_.marks).first(captured)};
  }

 private:
  struct List {
    std::vector<Mark> marks;  // the first `used` of them are set
    std::size_t used = 0;
  };

  [[nodiscard]] List& current() { return is_capturing_ ? captured_ : made_; }

  List made_;
  List captured_;
  bool is_capturing_ = false;
  bool is_replayed_ = false;
};

}  // namespace tandem
