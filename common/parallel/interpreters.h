// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/runtime/interpreter.h"

namespace tandem {

enum class InterpreterLock {
  kOff,  // an interpreter per thread
  kOn,   // one interpreter that all threads of the process share, as in Python
};

struct InterpreterOptions {
  DispatchCosts costs{};  // of the work that PyTorch dispatches; none: no model
  InterpreterLock lock = InterpreterLock::kOff;
};

// The modelled interpreters of one process: the calling thread's, and one per worker thread unless
// the workers share the caller's. Used as threads are: fork() before the workers begin, join()
// after.
class Interpreters {
 public:
  Interpreters(const InterpreterOptions& options, int workers);

  [[nodiscard]] Interpreter& caller() { return caller_; }
  [[nodiscard]] Interpreter& worker(int index);

  // Orders the caller's calls so far before the workers' calls from here on.
  void fork();

  // Orders the workers' calls so far before the caller's calls from here on.
  void join();

  // The number of all calls so far.
  [[nodiscard]] std::int64_t calls() const;

 private:
  Interpreter caller_;
  std::vector<std::unique_ptr<Interpreter>> workers_;  // empty: workers share caller_
};

}  // namespace tandem
