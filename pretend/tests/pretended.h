// SPDX-License-Identifier: Apache-2.0
//
// The pretended libraries as a program meets them: loaded by name, called through pointers. They
// read their settings once, so a test program has one node of GPUs, set before its first call.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace tandem::test::pretended {

inline constexpr int kGpus = 4;
inline constexpr uint64_t kRealBytes = 64 << 10;  // copies beyond are not done

// Called before the first library is loaded.
inline void set_up() {
  ::setenv("TANDEM_PRETEND_GPUS", std::to_string(kGpus).c_str(), 1);
  ::setenv("TANDEM_PRETEND_LIKE", "rtx4090", 1);
  ::unsetenv("CUDA_VISIBLE_DEVICES");
}

inline void* library(const std::string& soname) {
  set_up();
  void* const handle =
      ::dlopen((std::string(TANDEM_PRETEND_FOLDER "/") + soname).c_str(), RTLD_NOW);
  EXPECT_NE(handle, nullptr) << ::dlerror();
  return handle;
}

// Calls a function that returns a status, by its name; arguments must have the types it takes.
template <typename... Arguments>
int call(const std::string& soname, const char* name, Arguments... arguments) {
  using Function = int (*)(Arguments...);
  const auto function = reinterpret_cast<Function>(::dlsym(library(soname), name));
  if (function == nullptr) {
    ADD_FAILURE() << name << " is not in " << soname;
    return -1;
  }
  return function(arguments...);
}

template <typename... Arguments>
int cudart(const char* name, Arguments... arguments) {
  return call("libcudart.so.13", name, arguments...);
}

inline void* device_memory(int device, uint64_t bytes) {
  void* address = nullptr;
  EXPECT_EQ(cudart("cudaSetDevice", device), 0);
  EXPECT_EQ(cudart("cudaMalloc", &address, bytes), 0);
  return address;
}

template <typename Value>
void to_device(void* to, const Value* from, uint64_t count) {
  EXPECT_EQ(cudart("cudaMemcpy", to, static_cast<const void*>(from), count * sizeof(Value), 1), 0);
}

template <typename Value>
void from_device(Value* to, const void* from, uint64_t count) {
  EXPECT_EQ(cudart("cudaMemcpy", static_cast<void*>(to), from, count * sizeof(Value), 2), 0);
}

}  // namespace tandem::test::pretended
