// SPDX-License-Identifier: Apache-2.0
//
// What all users of oneDNN's primitives share.
#pragma once

#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <string>

#include "common/base/dtype.h"
#include "common/base/error.h"

namespace tandem::host {

inline dnnl::memory::data_type library_type(DType type) {
  switch (type) {
    case DType::kFloat32:
      return dnnl::memory::data_type::f32;
    case DType::kBFloat16:
      return dnnl::memory::data_type::bf16;
    case DType::kFloat16:
      break;
  }
  fail(ErrorKind::kLogic, "products of {}", name_of(type));
}

// oneDNN plans a primitive for the thread count of the thread that makes it; the workers that run
// it have one.
class SingleThreaded {
 public:
  SingleThreaded() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~SingleThreaded() { omp_set_num_threads(before_); }
  SingleThreaded(const SingleThreaded&) = delete;
  SingleThreaded& operator=(const SingleThreaded&) = delete;

 private:
  const int before_;
};

// oneDNN's errors as this project's; to_string(key) says of what.
template <class Key, class Function>
auto translated(const Key& key, Function&& function) {
  try {
    return function();
  } catch (const dnnl::error& error) {
    fail(ErrorKind::kFailure, "{} failed in oneDNN: {} (status {})", to_string(key), error.what(),
         static_cast<int>(error.status));
  }
}

}  // namespace tandem::host
