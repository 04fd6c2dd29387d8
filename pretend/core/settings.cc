// SPDX-License-Identifier: Apache-2.0
#include "pretend/core/settings.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace tandem::pretend {
namespace {

const char* variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

// Whoever sets the variables by hand and errs hears it here; a library has no exit status to give.
const Card* card_of(const char* word) {
  const Card* card = find_card(word);
  if (card == nullptr) {
    std::fprintf(stderr, "pretended GPUs: %s=%s names no card: use one of %s; a100 is taken\n",
                 kLikeVariable, word, card_words());
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
