// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "common/base/error.h"
#include "common/runtime/device.h"
#include "common/runtime/interpreter.h"

namespace tandem {

// Runs body(i) on a new thread per device, bound to the device, and joins all threads; nothing is
// kept. Then throws the failure with the lowest index, if any, as torch's parallel_apply.
void run_on_new_threads(const std::vector<Device*>& devices, const std::function<void(int)>& body);

// A thread per device, bound to the device, kept between calls and parked, like torch's autograd
// threads.
class DeviceThreads {
 public:
  explicit DeviceThreads(const std::vector<Device*>& devices);
  ~DeviceThreads() { close(); }
  DeviceThreads(const DeviceThreads&) = delete;
  DeviceThreads& operator=(const DeviceThreads&) = delete;

  // Runs body(i) on each thread and returns when all have ended; failures as above. One caller at a
  // time.
  void run(const std::function<void(int)>& body);

 private:
  void close();
  void work(Device& device, std::size_t index);

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  const std::function<void(int)>* body_ = nullptr;
  std::uint64_t round_ = 0;
  std::size_t busy_ = 0;
  bool closed_ = false;
  std::vector<std::optional<Error>> errors_;
  std::vector<std::thread> threads_;  // last: the threads use all members above
};

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
