// SPDX-License-Identifier: Apache-2.0
//
// The GPUs that can be pretended: what a program may ask about them.
#pragma once

#include <cstdint>
#include <string_view>

namespace tandem::pretend {

struct Card {
  std::string_view key;  // the word of --like
  const char* name;      // what a driver calls the GPU
  int major;             // compute capability
  int minor;
  int processors;  // streaming multiprocessors
  int64_t memory;  // bytes, as the runtime tells them
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
};

// The card of this word; nullptr where there is none.
[[nodiscard]] const Card* find_card(std::string_view key);

// "a100, h100, rtx4090"
[[nodiscard]] const char* card_words();

}  // namespace tandem::pretend
