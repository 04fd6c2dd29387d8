// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <cstdint>
#include <map>
#include <memory>

#include "common/kernels/host/library_calls.h"
#include "common/kernels/host/scratch.h"
#include "common/runtime/host/openmp_threads.h"

namespace tandem::host {

// oneDNN plans a primitive for the thread count of the thread that makes the primitive; the workers
// that run the primitive have one thread.
class SingleThreaded : boost::noncopyable {
 public:
  SingleThreaded() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~SingleThreaded() { omp_set_num_threads(before_); }

 private:
  const int before_;
};

// Turns oneDNN's errors into this project's errors, which name to_string(key).
template <class Key, class Function>
auto translated(const Key& key, Function&& function) {
  try {
    return function();
  } catch (const dnnl::error& error) {
    fail(ErrorKind::kFailure, "{} failed in oneDNN: {} (status {})", to_string(key), error.what(),
         static_cast<int>(error.status));
  }
}

// oneDNN's primitives, prepared once per key as Prepared(engine, key). work() is called by one
// thread at a time; its result may outlive this object. A failure in oneDNN is an error of kind
// failure that names to_string(key).
template <class Key, class Prepared>
class PrimitiveCache {
 public:
  explicit PrimitiveCache(Scratch& scratch) : scratch_(scratch) {}

  // One execution of the key's primitives on `operands`:
  //   prepared.execute(stream, operands, scratch memory of prepared.scratch())
  template <class Operands>
  [[nodiscard]] PreparedWork work(const Key& key, const Operands& operands) {
    std::shared_ptr<Prepared>& found = prepared_[key];
    if (!found) {
      const SingleThreaded planning;
      found = translated(key, [&] { return std::make_shared<Prepared>(engine_, key); });
    }
    Scratch::Memory scratch = scratch_.of(found->scratch());
    return {scratch.bytes, [key, operands, prepared = found, scratch, stream = stream_] {
              translated(key, [&] { prepared->execute(stream, operands, scratch.bytes.data()); });
            }};
  }

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(prepared_.size()); }

 private:
  Scratch& scratch_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  // Shared with queued work, which may still need a primitive when the cache is destroyed.
  std::map<Key, std::shared_ptr<Prepared>> prepared_;
};

}  // namespace tandem::host
