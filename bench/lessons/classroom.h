// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "bench/job.h"
#include "bench/lessons/lesson.h"
#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"
#include "common/runtime/host/cores.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// Where lessons run: what this rank's process may use, and the others that it can meet. Host back
// end only. Binds the calling thread to a core for its life.
class Classroom {
 public:
  // Collective. `bootstrap` outlives this.
  explicit Classroom(Bootstrap& bootstrap);

  [[nodiscard]] bool is_first() const { return bootstrap_.rank() == 0; }
  [[nodiscard]] int ranks() const { return bootstrap_.size(); }
  [[nodiscard]] int cores() const { return static_cast<int>(cores_.size()); }
  [[nodiscard]] int first_core() const { return cores_.front(); }  // by OS number
  [[nodiscard]] Bootstrap& bootstrap() { return bootstrap_; }

  // Logical devices of this process: each on a core of its own while there are enough, else they
  // share, which numbers do not mind; times would.
  [[nodiscard]] std::unique_ptr<Platform> devices(int count, const HostDebug& debug = {}) const;

  // Waits, parked, until every rank is here.
  void meet() { meeting_->barrier(); }

  // Collective: `body` on every rank, a device on a core of its own to each. Where it throws on
  // one, the others' waits end soon, and all throw what failed first.
  [[nodiscard]] Finding together(const std::function<Finding(Place&)>& body);

 private:
  Bootstrap& bootstrap_;
  const std::vector<int> cores_;  // before this thread was bound to one of them
  const host::ScopedBinding binding_;
  const std::unique_ptr<Platform> platform_;  // of the meeting
  const std::unique_ptr<Communicator> meeting_;
};

}  // namespace tandem::bench
