// SPDX-License-Identifier: Apache-2.0
#include "pretend/core/settings.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace tandem::pretend {
namespace {

// Sources: NVIDIA's V100, A100, H100, GA102 and Ada whitepapers (multiprocessors, L2, bus, clocks)
// and the CUDA programming guide's table of compute capabilities (threads, blocks, shared memory).
// Memory is what cudaMemGetInfo reports on such cards, below the printed size.
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
    {.key = "rtx3090",
     .name = "NVIDIA GeForce RTX 3090",
     .major = 8,
     .minor = 6,
     .processors = 82,
     .memory = 25'447'170'048,
     .l2_bytes = 6 << 20,
     .memory_bus_bits = 384,
     .clock_khz = 1'695'000,
     .memory_clock_khz = 9'751'000,
     .threads_per_processor = 1536,
     .blocks_per_processor = 16,
     .shared_per_processor = 100 << 10,
     .shared_per_block_optin = 99 << 10,
     .copy_engines = 2,
     .peers = false},
    {.key = "v100",
     .name = "Tesla V100-SXM2-32GB",
     .major = 7,
     .minor = 0,
     .processors = 80,
     .memory = 34'089'730'048,
     .l2_bytes = 6 << 20,
     .memory_bus_bits = 4096,
     .clock_khz = 1'530'000,
     .memory_clock_khz = 877'000,
     .threads_per_processor = 2048,
     .blocks_per_processor = 32,
     .shared_per_processor = 96 << 10,
     .shared_per_block_optin = 96 << 10,
     .copy_engines = 6,
     .peers = true},
});

const char* variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

// Whoever sets the variables by hand and errs hears it here; a library has no exit status to give.
const Card* card_of(const char* word) {
  const Card* card = find_card(word);
  if (card == nullptr) {
    std::fprintf(
        stderr,
        "pretended GPUs: %s=%s names no card: use one of a100, h100, rtx4090, rtx3090, v100; a100 "
        "is taken\n",
        kLikeVariable, word);
    return find_card("a100");
  }
  return card;
}

Settings read_settings() {
  Settings settings;
  const int count = std::max(0, std::atoi(variable(kGpusVariable, "1")));
  settings.gpus = visible_gpus(count, std::getenv("CUDA_VISIBLE_DEVICES"));
  settings.card = card_of(variable(kLikeVariable, "a100"));
  settings.versions = parse_versions(variable(kVersionsVariable, ""));
  settings.log = variable(kLogVariable, "");
  return settings;
}

}  // namespace

const Card* find_card(std::string_view key) {
  for (const Card& card : kCards) {
    if (card.key == key) {
      return &card;
    }
  }
  return nullptr;
}

Versions parse_versions(const std::string& text) {
  Versions versions;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      continue;
    }
    const std::string name = word.substr(0, equals);
    const int value = std::atoi(word.c_str() + equals + 1);
    int* const known = name == "runtime" ? &versions.runtime
                       : name == "blas"  ? &versions.blas
                       : name == "dnn"   ? &versions.dnn
                       : name == "nccl"  ? &versions.nccl
                                         : nullptr;
    if (known != nullptr) {
      *known = value;
    }
  }
  return versions;
}

std::vector<int> visible_gpus(int count, const char* visible) {
  std::vector<int> gpus;
  if (visible == nullptr) {
    for (int gpu = 0; gpu < count; ++gpu) {
      gpus.push_back(gpu);
    }
    return gpus;
  }
  std::istringstream words(visible);
  for (std::string word; std::getline(words, word, ',');) {
    char* end = nullptr;
    const long gpu = std::strtol(word.c_str(), &end, 10);
    if (end == word.c_str() || *end != '\0' || gpu < 0 || gpu >= count ||
        std::find(gpus.begin(), gpus.end(), gpu) != gpus.end()) {
      break;
    }
    gpus.push_back(static_cast<int>(gpu));
  }
  return gpus;
}

const Settings& settings() {
  // Never destroyed: torch's threads call until the process is gone.
  static const Settings* const settings = new Settings(read_settings());
  return *settings;
}

}  // namespace tandem::pretend
