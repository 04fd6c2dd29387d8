// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "bench/job/job.h"
#include "bench/lessons/lesson.h"
#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"
#include "common/runtime/host/cores.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// The place where lessons run: the cores that this rank's process may use, and the other ranks.
// Host back end only. Binds the calling thread to a core for the classroom's life.
class Classroom {
 public:
  // Collective. `bootstrap` outlives the classroom.
  explicit Classroom(Bootstrap& bootstrap);

  [[nodiscard]] bool is_first() const { return bootstrap_.rank() == 0; }
  [[nodiscard]] int ranks() const { return bootstrap_.size(); }
  [[nodiscard]] int cores() const { return static_cast<int>(cores_.size()); }
  [[nodiscard]] int first_core() const { return cores_.front(); }  // by OS number
  [[nodiscard]] Bootstrap& bootstrap() { return bootstrap_; }

  // Logical devices of this process: each on a core of its own while there are enough cores, else
  // devices share cores, which changes times but no numbers.
  [[nodiscard]] std::unique_ptr<Platform> devices(int count, const HostDebug& debug = {}) const;

  // Waits, parked, until every rank has called meet().
  void meet() { meeting_->barrier(); }

  // Runs `body` on every rank, each rank with a device on a core of its own. Where `body` throws on
  // one rank, the other ranks' waits end soon, and all ranks throw the first failure. Collective.
  [[nodiscard]] Finding together(const std::function<Finding(Place&)>& body);

 private:
  Bootstrap& bootstrap_;
  const std::vector<int> cores_;  // allowed cores, before this thread was bound
  const host::ScopedBinding binding_;
  const std::unique_ptr<Platform> platform_;  // the platform of the meeting
  const std::unique_ptr<Communicator> meeting_;
};

}  // namespace tandem::bench
