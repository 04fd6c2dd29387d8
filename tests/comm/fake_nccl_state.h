// SPDX-License-Identifier: Apache-2.0
// The state of NCCL's stand-in, which its parts share: the lives of communicators and memory
// (fake_nccl.cc), and what runs on streams (fake_nccl_calls.cc).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/comm/fake_nccl.h"

namespace tandem::test::fake_nccl {

// What the ranks of one communicator have in common.
struct World {
  struct Operation {
    std::vector<const std::byte*> send;
    int arrived = 0;
    int computed = 0;
  };
  struct Message {
    const std::byte* data = nullptr;
    std::size_t size = 0;
    bool taken = false;
  };
  std::mutex mutex;
  std::condition_variable changed;
  int size = 0;
  int joined = 0;
  int connected = 0;
  std::map<std::uint64_t, Operation> operations;
  std::map<std::pair<int, int>, std::deque<std::shared_ptr<Message>>> messages;
};

struct Global {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<World>> worlds;
  std::map<std::pair<std::string, int>, ncclResult_t> failures;
  std::map<int, ncclResult_t> async_errors;
  std::set<int> stuck;
  std::map<int, std::vector<std::string>> calls;
  std::vector<std::string> violations;
  std::atomic<bool> connects{false};
  std::atomic<bool> sticks_at_end{false};
  std::atomic<int> on_streams{0};
  std::atomic<int> open_groups{0};
  int ids = 0;
  int living = 0;
};

Global& global();

// Notes that a rule of NCCL's was broken.
void violate(const std::string& what);

// The failure that was planted for the next call of this function in this rank; it fails once.
ncclResult_t failure_of(const std::string& function, int rank);

// One call on a communicator, from its begin to its end, or to that of its group.
class Inside {
 public:
  Inside(ncclComm* comm, const std::string& function, const std::string& note = "");
  ~Inside();

 private:
  ncclComm* const comm_;
  bool is_first_ = false;  // of this thread's
};

// Sets the collectives, messages and groups of `api`.
void add_calls(nccl::Api& api);

}  // namespace tandem::test::fake_nccl

struct ncclComm {
  std::shared_ptr<tandem::test::fake_nccl::World> world;
  int rank = 0;
  std::atomic<bool> aborted{false};
  std::atomic<std::thread::id> inside{};
  bool destroyed = false;
  bool connected = false;
  std::uint64_t operations = 0;
};
