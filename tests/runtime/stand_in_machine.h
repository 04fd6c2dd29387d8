// SPDX-License-Identifier: Apache-2.0
//
// What the parts of the stand-in for CUDA's runtime share: GPUs, streams, events.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
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

#include "tests/runtime/stand_in_cudart.h"

namespace tandem::test::stand_in {

// One record of an event. Shared by the event, its stream and those that wait for it.
struct Record {
  using Clock = std::chrono::steady_clock;

  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  Clock::time_point at;

  bool is_done() {
    const std::lock_guard lock(mutex);
    return done;
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return done; });
  }
  void complete() {
    const std::lock_guard lock(mutex);
    at = Clock::now();
    done = true;
    changed.notify_all();
  }
};

struct Machine {
  std::mutex mutex;
  int gpus = 2;                               // until reset()
  std::size_t memory = std::size_t{1} << 30;  // of each
  bool only_counts = false;
  std::atomic<int> launches = 0;
  std::uintptr_t unbacked = std::uintptr_t{1} << 50;  // where memory that is only counted ends
  int driver = 13000;
  bool peers = true;
  int capability = 90;
  cudaComputeMode compute_mode = cudaComputeModeDefault;
  std::map<int, unsigned> schedules;  // of cudaInitDevice, by GPU
  std::set<std::pair<int, int>> enabled;
  std::map<int, std::size_t> used;                            // by GPU
  std::map<const void*, std::pair<int, std::size_t>> blocks;  // GPU, or -1 for pinned
  std::map<std::string, cudaError_t> failures;
  std::map<std::string, std::function<void()>> looks;
  std::map<std::string, std::function<void()>> watches;
  std::map<std::string, int> calls;
  std::map<int, cudaError_t> lost;
  std::map<int, std::vector<const void*>> loaded;  // kernels, by GPU
};

[[nodiscard]] Machine& machine();
[[nodiscard]] std::atomic<int>& alive();

// Keeps an error as CUDA's last one of this thread.
cudaError_t answer(cudaError_t status);

// What a call returns before it does anything: a failure set for it, or that of its lost GPU.
[[nodiscard]] cudaError_t enter(const char* function, int gpu = -1);

// For a call that puts `body` on a stream: enters, and queues it.
[[nodiscard]] cudaError_t give(const char* function, cudaStream_t stream,
                               std::function<void()> body);

}  // namespace tandem::test::stand_in

struct CUstream_st {
  explicit CUstream_st(int gpu_of);
  ~CUstream_st();
  void push(std::function<void()> task);
  void work();
  void drain();
  bool idle();

  const int gpu;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> queue;
  std::thread worker;
};

struct CUevent_st {
  CUevent_st(int gpu_of, bool is_timed) : gpu(gpu_of), timed(is_timed) {
    ++tandem::test::stand_in::alive();
  }
  ~CUevent_st() { --tandem::test::stand_in::alive(); }

  const int gpu;
  const bool timed;
  std::shared_ptr<tandem::test::stand_in::Record> record{};
};
