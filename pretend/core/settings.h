// SPDX-License-Identifier: Apache-2.0
//
// Settings from `tandem pretend`, by environment variables: read once, at the first
// question. The names are a contract with start/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::pretend {

inline constexpr const char* kGpusVariable = "TANDEM_PRETEND_GPUS";
inline constexpr const char* kLikeVariable = "TANDEM_PRETEND_LIKE";
inline constexpr const char* kLogVariable = "TANDEM_PRETEND_LOG";
inline constexpr const char* kCheckVariable = "TANDEM_PRETEND_CHECK";  // the job's name
inline constexpr const char* kVersionsVariable = "TANDEM_PRETEND_VERSIONS";

// Copies and collectives up to this size are done for real, larger ones only logged.
inline constexpr size_t kRealBytes = 64 << 10;

// The versions of the libraries that the pretended ones stand in for, each as the library reports
// it: torch compares some with those that torch was compiled against.
struct Versions {
  int runtime = 13'000;  // 13.0
  int blas = 130'000;    // 13.0.0
  int dnn = 91'000;      // 9.10.0
  int nccl = 22'700;     // 2.27.0
};

// A GPU that can be pretended: what a program may ask about it.
struct Card {
  std::string_view key;  // the word of --like
  const char* name;      // what a driver calls the GPU
  int major;             // compute capability
  int minor;
  int processors;  // streaming multiprocessors
  int64_t memory;  // bytes, as the runtime reports them
  int l2_bytes;
  int memory_bus_bits;
  int clock_khz;
  int memory_clock_khz;
  int threads_per_processor;
  int blocks_per_processor;
  int shared_per_processor;  // bytes
  int shared_per_block_optin;
  int copy_engines;
  bool peers;  // whether GPUs of the kind reach each other's memory

  // What CUDA keeps of each block's shared memory; the table has it as a difference.
  [[nodiscard]] constexpr int shared_per_block_reserved() const {
    return shared_per_processor - shared_per_block_optin;
  }
};

// The card of this word; nullptr where there is none.
[[nodiscard]] const Card* find_card(std::string_view key);

struct Settings {
  std::vector<int> gpus{};  // the physical index of each visible GPU
  const Card* card = nullptr;
  Versions versions{};
  std::string log{};  // the beginning of the log files' paths; empty: no log
};

[[nodiscard]] const Settings& settings();

// "runtime=13020,dnn=92600,..."; a word that is unknown is left out.
[[nodiscard]] Versions parse_versions(const std::string& text);

// The GPUs of `count` that CUDA_VISIBLE_DEVICES leaves visible; `visible` is nullptr where the
// variable is not set. As CUDA does, reading ends at the first word that names no GPU.
[[nodiscard]] std::vector<int> visible_gpus(int count, const char* visible);

}  // namespace tandem::pretend
