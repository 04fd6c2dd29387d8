// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/device_threads.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include "common/base/error.h"

namespace tandem {
namespace {

class NewThreads final : public DeviceThreads {
 public:
  explicit NewThreads(const std::vector<Device*>& devices) : devices_(devices) {}

  void run(const std::function<void(int)>& body) override {
    std::vector<std::optional<Error>> errors(devices_.size());
    std::vector<std::thread> threads;
    threads.reserve(devices_.size());
    // A thread may fail to start (a limit of processes): the earlier threads are joined all the
    // same.
    const auto not_started = capture_error([&] {
      for (std::size_t i = 0; i < devices_.size(); ++i) {
        threads.emplace_back([this, &errors, &body, i] {
          errors[i] = capture_error([&] {
            devices_[i]->bind_this_thread();
            body(static_cast<int>(i));
          });
        });
      }
    });
    for (std::thread& thread : threads) thread.join();
    if (not_started) throw Error(*not_started);
    throw_cause(errors);
  }

 private:
  const std::vector<Device*> devices_;
};

class KeptThreads final : public DeviceThreads {
 public:
  explicit KeptThreads(const std::vector<Device*>& devices);
  ~KeptThreads() override { close(); }

  void run(const std::function<void(int)>& body) override;

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

KeptThreads::KeptThreads(const std::vector<Device*>& devices) : errors_(devices.size()) {
  const auto not_started = capture_error([&] {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      threads_.emplace_back([this, device = devices[i], i] { work(*device, i); });
    }
  });
  if (!not_started) return;
  close();
  throw Error(*not_started);
}

void KeptThreads::run(const std::function<void(int)>& body) {
  std::unique_lock lock(mutex_);
  body_ = &body;
  busy_ = threads_.size();
  ++round_;
  changed_.notify_all();
  changed_.wait(lock, [this] { return busy_ == 0; });
  throw_cause(errors_);
}

void KeptThreads::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void KeptThreads::work(Device& device, std::size_t index) {
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

}  // namespace

std::unique_ptr<DeviceThreads> start_device_threads(const std::vector<Device*>& devices,
                                                    ThreadLife life) {
  if (life == ThreadLife::kKept) return std::make_unique<KeptThreads>(devices);
  return std::make_unique<NewThreads>(devices);
}

}  // namespace tandem
