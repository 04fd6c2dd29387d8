// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/runtime/interpreter.h"

namespace tandem {

enum class InterpreterLock {
  kOff,  // an interpreter per thread
  kOn,   // one that all threads of the process share, as Python's
};

struct InterpreterOptions {
  Nanoseconds dispatch_cost{0};  // of each call that PyTorch dispatches from Python; 0: no model
  InterpreterLock lock = InterpreterLock::kOff;
};

// The modelled interpreters of one process: the calling thread's, and one per worker thread unless
// they share the caller's. Used as threads are: fork() before the workers begin, join() after.
class Interpreters {
 public:
  Interpreters(const InterpreterOptions& options, int workers);

  [[nodiscard]] Interpreter& caller() { return caller_; }
  [[nodiscard]] Interpreter& worker(int index);

  // What the caller dispatched so far comes before anything that a worker dispatches.
  void fork();

  // What the workers dispatched so far comes before anything that the caller dispatches.
  void join();

  // All calls so far.
  [[nodiscard]] std::int64_t calls() const;

 private:
  Interpreter caller_;
  std::vector<std::unique_ptr<Interpreter>> workers_;  // empty: they share the caller's
};

}  // namespace tandem
