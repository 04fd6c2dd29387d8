// SPDX-License-Identifier: Apache-2.0
#include "common/comm/launcher.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

namespace tandem {
namespace {

// The largest number that any of the variables holds; `least` where none does.
int largest_of(std::initializer_list<const char*> variables, int least) {
  for (const char* const variable : variables) {
    const char* const text = std::getenv(variable);
    if (text != nullptr) least = std::max(least, std::atoi(text));
  }
  return least;
}

}  // namespace

int announced_ranks() { return largest_of({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, 1); }

int announced_rank() { return largest_of({"OMPI_COMM_WORLD_RANK", "PMI_RANK"}, 0); }

}  // namespace tandem
