// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/device_threads.h"

namespace tandem {

void run_on_new_threads(const std::vector<Device*>& devices, const std::function<void(int)>& body) {
  std::vector<std::optional<Error>> errors(devices.size());
  std::vector<std::thread> threads;
  threads.reserve(devices.size());
  // A thread may fail to start (a limit of processes): the earlier threads are joined all the same.
  const auto not_started = capture_error([&] {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      threads.emplace_back([&errors, &body, &devices, i] {
        errors[i] = capture_error([&] {
          devices[i]->bind_this_thread();
          body(static_cast<int>(i));
        });
      });
    }
  });
  for (std::thread& thread : threads) thread.join();
  if (not_started) throw Error(*not_started);
  throw_cause(errors);
}

DeviceThreads::DeviceThreads(const std::vector<Device*>& devices) : errors_(devices.size()) {
  const auto not_started = capture_error([&] {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      threads_.emplace_back([this, device = devices[i], i] { work(*device, i); });
    }
  });
  if (!not_started) return;
  close();
  throw Error(*not_started);
}

void DeviceThreads::run(const std::function<void(int)>& body) {
  std::unique_lock lock(mutex_);
  body_ = &body;
  busy_ = threads_.size();
  ++round_;
  changed_.notify_all();
  changed_.wait(lock, [this] { return busy_ == 0; });
  throw_cause(errors_);
}

void DeviceThreads::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void DeviceThreads::work(Device& device, std::size_t index) {
  const std::optional<Error> not_bound = capture_error([&] { device.bind_this_thread(); });
  std::unique_lock lock(mutex_);
  for (std::uint64_t seen = 0;; ++seen) {
    changed_.wait(lock, [&] { return closed_ || round_ != seen; });
    if (closed_) return;
    const auto* const body = body_;
    lock.unlock();
    const auto error =
        not_bound ? not_bound : capture_error([&] { (*body)(static_cast<int>(index)); });
    lock.lock();
    errors_[index] = error;
    if (--busy_ == 0) changed_.notify_all();
  }
}

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
