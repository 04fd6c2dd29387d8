// SPDX-License-Identifier: Apache-2.0
//
// What `tandem pretend` tells the libraries, by environment variables: read once, at the first
// question. The names are a contract with tools/tandem/pretend.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pretend/core/card.h"

namespace tandem::pretend {

inline constexpr const char* kGpusVariable = "TANDEM_PRETEND_GPUS";
inline constexpr const char* kLikeVariable = "TANDEM_PRETEND_LIKE";
inline constexpr const char* kLogVariable = "TANDEM_PRETEND_LOG";
inline constexpr const char* kVersionsVariable = "TANDEM_PRETEND_VERSIONS";

// Copies and collectives up to this size are done for real, larger ones only logged.
inline constexpr size_t kRealBytes = 64 << 10;

// The versions of the libraries that the pretended ones stand in for, each as the library tells
// it: torch compares some with those that torch was compiled against.
struct Versions {
  int runtime = 13'000;  // 13.0
  int blas = 130'000;    // 13.0.0
  int dnn = 91'000;      // 9.10.0
  int nccl = 22'700;     // 2.27.0
};

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
