// SPDX-License-Identifier: Apache-2.0
#include "pretend/core/card.h"

#include <array>

namespace tandem::pretend {
namespace {

// Sources: NVIDIA's A100, H100 and Ada whitepapers (multiprocessors, L2, bus, clocks) and the CUDA
// programming guide's table of compute capabilities (threads, blocks, shared memory). Memory is
// what cudaMemGetInfo tells on such cards, below the printed size.
constexpr auto kCards = std::to_array<Card>({
    {.key = "a100",
     .name = "NVIDIA A100-SXM4-80GB",
     .major = 8,
     .minor = 0,
     .processors = 108,
     .memory = 85'094'825'984,
     .l2_bytes = 40 << 20,
     .memory_bus_bits = 5120,
     .clock_khz = 1'410'000,
     .memory_clock_khz = 1'593'000,
     .threads_per_processor = 2048,
     .blocks_per_processor = 32,
     .shared_per_processor = 164 << 10,
     .shared_per_block_optin = 163 << 10,
     .copy_engines = 3,
     .peers = true},
    {.key = "h100",
     .name = "NVIDIA H100 80GB HBM3",
     .major = 9,
     .minor = 0,
     .processors = 132,
     .memory = 85'029'158'912,
     .l2_bytes = 50 << 20,
     .memory_bus_bits = 5120,
     .clock_khz = 1'980'000,
     .memory_clock_khz = 2'619'000,
     .threads_per_processor = 2048,
     .blocks_per_processor = 32,
     .shared_per_processor = 228 << 10,
     .shared_per_block_optin = 227 << 10,
     .copy_engines = 3,
     .peers = true},
    {.key = "rtx4090",
     .name = "NVIDIA GeForce RTX 4090",
     .major = 8,
     .minor = 9,
     .processors = 128,
     .memory = 25'393'692'672,
     .l2_bytes = 72 << 20,
     .memory_bus_bits = 384,
     .clock_khz = 2'520'000,
     .memory_clock_khz = 10'501'000,
     .threads_per_processor = 1536,
     .blocks_per_processor = 24,
     .shared_per_processor = 100 << 10,
     .shared_per_block_optin = 99 << 10,
     .copy_engines = 2,
     .peers = false},
});

}  // namespace

const Card* find_card(std::string_view key) {
  for (const Card& card : kCards) {
    if (card.key == key) {
      return &card;
    }
  }
  return nullptr;
}

const char* card_words() { return "a100, h100, rtx4090"; }

}  // namespace tandem::pretend
