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
// In the order of Card's fields, two lines each: word, name, capability, processors, memory; L2, bus,
// clocks; threads, blocks, shared memory of a processor and of a block; copy engines, peers.
// clang-format off
constexpr auto kCards = std::to_array<Card>({
    {"a100", "NVIDIA A100-SXM4-80GB", 8, 0, 108, 85'094'825'984,
     40 << 20, 5120, 1'410'000, 1'593'000, 2048, 32, 164 << 10, 163 << 10, 3, true},
    {"h100", "NVIDIA H100 80GB HBM3", 9, 0, 132, 85'029'158'912,
     50 << 20, 5120, 1'980'000, 2'619'000, 2048, 32, 228 << 10, 227 << 10, 3, true},
    {"rtx4090", "NVIDIA GeForce RTX 4090", 8, 9, 128, 25'393'692'672,
     72 << 20, 384, 2'520'000, 10'501'000, 1536, 24, 100 << 10, 99 << 10, 2, false},
    {"rtx3090", "NVIDIA GeForce RTX 3090", 8, 6, 82, 25'447'170'048,
     6 << 20, 384, 1'695'000, 9'751'000, 1536, 16, 100 << 10, 99 << 10, 2, false},
    {"v100", "Tesla V100-SXM2-32GB", 7, 0, 80, 34'089'730'048,
     6 << 20, 4096, 1'530'000, 877'000, 2048, 32, 96 << 10, 96 << 10, 6, true},
});
// clang-format on

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
    if (card.key == key) return &card;
  }
  return nullptr;
}

Versions parse_versions(const std::string& text) {
  Versions versions;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = word.substr(0, equals);
    const int value = std::atoi(word.c_str() + equals + 1);
    int* const known = name == "runtime" ? &versions.runtime
                       : name == "blas"  ? &versions.blas
                       : name == "dnn"   ? &versions.dnn
                       : name == "nccl"  ? &versions.nccl
                                         : nullptr;
    if (known != nullptr) *known = value;
  }
  return versions;
}

std::vector<int> visible_gpus(int count, const char* visible) {
  std::vector<int> gpus;
  if (visible == nullptr) {
    for (int gpu = 0; gpu < count; ++gpu) gpus.push_back(gpu);
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
