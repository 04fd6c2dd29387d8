// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "common/comm/communicator.h"
#include "common/comm/thread_bootstrap.h"

namespace tandem {

// A communicator for each of one process's devices, all driven by one thread: a rank is the index
// of its device. GPUs use NCCL, which needs a GPU per rank; host devices use shared memory. One
// thread at a time.
class DeviceTeam : boost::noncopyable {
 public:
  // The options of a device's communicator; absent: the defaults.
  using OptionsOf = std::function<CommunicatorOptions(const Device&)>;

  // Throws a usage error where GPUs are shared or NCCL is not available; nccl_serves() says in
  // advance. `devices`, all of one back end, outlive the team.
  DeviceTeam(const std::vector<Device*>& devices, const OptionsOf& options_of = {});
  ~DeviceTeam();

  [[nodiscard]] int size() const { return group_.size(); }
  [[nodiscard]] Communicator& rank(int index) const {
    return *communicators_.at(static_cast<std::size_t>(index));
  }

  // Runs `calls`, which makes the same call on every rank and enqueues nothing else. Grouped in
  // this way, no rank's call waits for another rank's call to be made.
  void together(const std::function<void()>& calls);

  // Makes all calls of all ranks fail soon.
  void abort() noexcept;

 private:
  void make_on_threads(const std::vector<Device*>& devices, const OptionsOf& options_of);
  void on_threads(const std::function<void(std::size_t)>& body);

  ThreadGroup group_;
  std::vector<std::unique_ptr<Bootstrap>> bootstraps_;
  std::vector<std::unique_ptr<Communicator>> communicators_;
  std::vector<Communicator*> ranks_;
  void (*together_)(const std::vector<Communicator*>&, const std::function<void()>&);
};

// The meeting place of ranks that are threads of this process, a thread for each of these devices,
// until they have communicators; at most for `deadline` at a time.
[[nodiscard]] std::unique_ptr<RankGroup> make_rank_group(const std::vector<Device*>& devices,
                                                         Nanoseconds deadline);

// Whether torch would let its collectives work on these devices: CUDA devices, each on a GPU of its
// own, where NCCL is available; and the reason where not.
struct TeamAnswer {
  bool possible = false;
  std::string reason{};
};
[[nodiscard]] TeamAnswer nccl_serves(const std::vector<Device*>& devices);

}  // namespace tandem
