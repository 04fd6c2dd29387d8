// SPDX-License-Identifier: Apache-2.0
//
// What an answered call costs: the pretended libraries' share of every host time measured on them.
// With TANDEM_PRETEND_LOG=FILE the same with the log.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
};

template <typename Function>
Function function(const char* library, const char* name) {
  void* const handle =
      ::dlopen((std::string(TANDEM_PRETEND_FOLDER "/") + library).c_str(), RTLD_NOW);
  void* const found = handle == nullptr ? nullptr : ::dlsym(handle, name);
  if (found == nullptr) std::abort();
  return reinterpret_cast<Function>(found);
}

void launch(benchmark::State& state) {
  const auto call = function<int (*)(const void*, Dim3, Dim3, void**, std::uint64_t, void*)>(
      "libcudart.so.13", "cudaLaunchKernel");
  for (auto _ : state) call(&state, {}, {}, nullptr, 0, nullptr);
}

void get_device(benchmark::State& state) {
  const auto call = function<int (*)(int*)>("libcudart.so.13", "cudaGetDevice");
  int device = 0;
  for (auto _ : state) call(&device);
}

void record_event(benchmark::State& state) {
  const auto make =
      function<int (*)(void**, unsigned)>("libcudart.so.13", "cudaEventCreateWithFlags");
  const auto call = function<int (*)(void*, void*)>("libcudart.so.13", "cudaEventRecord");
  void* event = nullptr;
  make(&event, 2);
  for (auto _ : state) call(event, nullptr);
}

void copy(benchmark::State& state) {
  const auto allocate = function<int (*)(void**, std::uint64_t)>("libcudart.so.13", "cudaMalloc");
  const auto call = function<int (*)(void*, const void*, std::uint64_t, int, void*)>(
      "libcudart.so.13", "cudaMemcpyAsync");
  void* address = nullptr;
  const auto bytes = static_cast<std::uint64_t>(state.range(0));
  allocate(&address, 2 * bytes);
  for (auto _ : state) call(address, static_cast<char*>(address) + bytes, bytes, 3, nullptr);
}

void product(benchmark::State& state) {
  const auto make = function<int (*)(void**)>("libcublas.so.13", "cublasCreate_v2");
  const auto call =
      function<int (*)(void*, int, int, int, int, int, const void*, const void*, int, const void*,
                       int, const void*, void*, int)>("libcublas.so.13", "cublasSgemm_v2");
  void* handle = nullptr;
  make(&handle);
  for (auto _ : state) {
    call(handle, 0, 0, 64, 64, 64, nullptr, nullptr, 64, nullptr, 64, nullptr, nullptr, 64);
  }
}

void all_reduce(benchmark::State& state) {
  const auto make = function<int (*)(void**, int, const int*)>("libnccl.so.2", "ncclCommInitAll");
  const auto call = function<int (*)(const void*, void*, std::uint64_t, int, int, void*, void*)>(
      "libnccl.so.2", "ncclAllReduce");
  std::array<void*, 2> communicators{};
  make(communicators.data(), 2, nullptr);
  for (auto _ : state) call(nullptr, nullptr, 1 << 20, 7, 0, communicators[0], nullptr);
}

// So few that no thread's records are written on the way: that is not the cost of a call.
constexpr int kCalls = 20'000;

BENCHMARK(get_device)->Iterations(kCalls);
BENCHMARK(launch)->Iterations(kCalls);
BENCHMARK(record_event)->Iterations(kCalls);
BENCHMARK(copy)->Arg(8)->Arg(64 << 10)->Arg(1 << 20)->Iterations(kCalls);
BENCHMARK(product)->Iterations(kCalls);
BENCHMARK(all_reduce)->Iterations(kCalls);

}  // namespace

int main(int count, char** arguments) {
  ::setenv("TANDEM_PRETEND_GPUS", "2", 1);
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
