// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for CUPTI's library: the functions that Tandem uses, and these, by which a test says
// what a GPU ran. They are found with dlsym, as CUPTI's are. It delivers records as CUPTI does, by
// buffers that it asks for; it knows nothing of GPUs.
#pragma once

#include <cstdint>

struct StandInWork {
  const char* function =
      nullptr;  // cudaMemcpyAsync, cudaMemcpyPeerAsync, cudaMemsetAsync; a kernel
  int gpu = 0;
  void* stream = nullptr;
  std::uint32_t correlation = 0;
  std::uint64_t begin = 0;  // by stand_in_cupti_now
  std::uint64_t end = 0;
};

extern "C" {

// A call of CUDA's by this thread: its correlation.
using StandInCuptiCall = std::uint32_t();
// A record of what ran, where its kind is enabled.
using StandInCuptiRan = void(const StandInWork* work);
// CUPTI's clock, which is CLOCK_REALTIME: another than Tandem's.
using StandInCuptiNow = std::uint64_t();
// From now on `function` returns `result`; 0: as ever. Where STAND_IN_CUPTI_REFUSES is a number,
// cuptiActivityEnable returns that from the start.
using StandInCuptiRefuse = void(const char* function, int result);
// So many records were dropped.
using StandInCuptiDrop = void(std::uint64_t records);
// Kinds of records that are enabled.
using StandInCuptiEnabled = int();
// Buffers that were delivered.
using StandInCuptiBuffers = int();

}  // extern "C"
