// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for CUDA's runtime, on threads: streams are worker threads, GPU memory is the heap. It
// shows that the CUDA classes make the right calls and turn each failure into the right error. It
// says nothing of how a GPU behaves; for that the contract suite runs on real ones.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace tandem::test::stand_in {

// Back to a driver of CUDA 13.0 and `gpus` GPUs of 1 GiB, without failures. Between tests only.
void reset(int gpus);

// From now on memory is handed out without being there, and kernels and fills are counted and not
// run: for models of any size. Until reset().
void only_count();
[[nodiscard]] bool only_counts();

void set_driver_version(int version);
void set_peer_access(bool possible);
void set_compute_capability(int capability);  // 90 is 9.0, which reset() sets
void set_compute_mode(cudaComputeMode mode);  // of all GPUs; reset() sets the default one

// The next call of `function` ("cudaMalloc") returns `status`, once.
void fail_next(const std::string& function, cudaError_t status);

// The next call of `function` calls `body` on its thread first, once.
void on_next(const std::string& function, std::function<void()> body);

// The same of every call until reset().
void on_each(const std::string& function, std::function<void()> body);

// From now on every call that touches this GPU returns `status`, as after a kernel's fault.
void lose(int gpu, cudaError_t status);

// Handles and memory in existence: 0 after everything was destroyed.
[[nodiscard]] int living();
[[nodiscard]] int calls(const std::string& function);  // since reset()
[[nodiscard]] cudaError_t last_error();                // without clearing it

// Kernels that were asked about on this GPU, which loads them, in that order, since reset().
[[nodiscard]] std::vector<const void*> loaded_kernels(int gpu);

// How the host was set to wait for this GPU, last: cudaDeviceScheduleAuto, ...
[[nodiscard]] unsigned schedule_of(int gpu);

// Queues work of the test's own.
void launch(cudaStream_t stream, std::function<void()> body);

[[nodiscard]] int launches();  // of kernels, fills among them, since the program's start

// Stands in for the launch of a kernel: counted, and may fail, under `name` as calls are.
[[nodiscard]] cudaError_t kernel(const std::string& name, cudaStream_t stream,
                                 std::function<void()> body);

}  // namespace tandem::test::stand_in
