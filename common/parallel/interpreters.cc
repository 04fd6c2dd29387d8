// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/interpreters.h"

namespace tandem {

Interpreters::Interpreters(const InterpreterOptions& options, int workers)
    : caller_(options.costs) {
  if (options.lock == InterpreterLock::kOn) return;
  for (int i = 0; i < workers; ++i) {
    workers_.push_back(std::make_unique<Interpreter>(options.costs));
  }
}

Interpreter& Interpreters::worker(int index) {
  return workers_.empty() ? caller_ : *workers_.at(static_cast<std::size_t>(index));
}

void Interpreters::fork() {
  for (const auto& worker : workers_) worker->catch_up_with(caller_);
}

void Interpreters::join() {
  for (const auto& worker : workers_) caller_.catch_up_with(*worker);
}

std::int64_t Interpreters::calls() const {
  std::int64_t calls = caller_.calls();
  for (const auto& worker : workers_) calls += worker->calls();
  return calls;
}

}  // namespace tandem
