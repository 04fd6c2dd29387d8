// SPDX-License-Identifier: Apache-2.0
//
// Answers a fit of the cost model's constants: reads lists of kernels once, and prints the seconds
// of each list for every line of constants. Its input:
//
//   list MACHINE              begins a list on the GPU of a machine in the catalogue
//   KIND TYPE LAYOUT COUNT SIZE...
//   costs NAME=VALUE...       prints a line of seconds, a number for each list
//   constants                 prints a line NAME FITTED BEFORE SPREAD for each constant, and an
//   empty line
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "simulate/catalogue/catalogue.h"
#include "simulate/cost/kernel_time.h"

namespace tandem {
namespace {

struct List {
  std::string machine;
  std::vector<ListedKernel> kernels{};
};

using Gpus = std::map<std::string, GpuDescription>;

template <class Names>
std::size_t number_of(const Names& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end())
    fail(ErrorKind::kUsage, "the lists name a '{}', which is unknown", name);
  return static_cast<std::size_t>(found - names.begin());
}

ListedKernel kernel_of(const std::string& kind, std::istream& words) {
  std::string type;
  std::string layout;
  ListedKernel kernel;
  words >> type >> layout >> kernel.count;
  kernel.kind = static_cast<KernelKind>(number_of(kKernelKinds, kind));
  kernel.type = static_cast<NumberType>(number_of(kNumberTypes, type));
  kernel.layout = static_cast<KernelLayout>(number_of(kKernelLayouts, layout));
  for (std::size_t i = 0; i < sizes_of(kernel.kind).size(); ++i) words >> kernel.sizes.at(i);
  if (!words) fail(ErrorKind::kUsage, "a {} has too few sizes", kind);
  return kernel;
}

// Sets what the words say, and leaves all else at its fitted value.
KernelCosts costs_of(std::istream& words) {
  KernelCosts costs;
  for (std::string word; words >> word;) {
    const std::string name = word.substr(0, word.find('='));
    const double value = std::stod(word.substr(name.size() + 1));
    const auto found = std::ranges::find(kKernelCosts, name, &KernelCost::name);
    if (found == kKernelCosts.end()) fail(ErrorKind::kUsage, "there is no constant '{}'", name);
    costs.*(found->member) = value;
  }
  return costs;
}

void print_seconds(const std::vector<List>& lists, const Gpus& gpus, const KernelCosts& costs) {
  for (const List& list : lists) {
    const GpuDescription& gpu = gpus.at(list.machine);
    double seconds = 0;
    for (const ListedKernel& kernel : list.kernels) {
      seconds += static_cast<double>(kernel.count) * kernel_seconds(gpu, kernel, costs);
    }
    fmt::print("{:.9g} ", seconds);
  }
  fmt::print("\n");
}

void print_constants() {
  const KernelCosts fitted;
  for (const KernelCost& cost : kKernelCosts) {
    fmt::print("{} {} {} {}\n", cost.name, fitted.*(cost.member), cost.before, cost.spread);
  }
  fmt::print("\n");
}

void answer(std::istream& input) {
  std::vector<List> lists;
  Gpus gpus;
  for (std::string line; std::getline(input, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "list") {
      lists.emplace_back();
      words >> lists.back().machine;
      gpus.try_emplace(lists.back().machine, find_hardware(lists.back().machine, "list").gpu);
    } else if (first == "costs") {
      print_seconds(lists, gpus, costs_of(words));
      std::fflush(stdout);
    } else if (first == "constants") {
      print_constants();
      std::fflush(stdout);
    } else {
      lists.back().kernels.push_back(kernel_of(first, words));
    }
  }
}

}  // namespace
}  // namespace tandem

int main() {
  std::ios::sync_with_stdio(false);
  try {
    tandem::answer(std::cin);
  } catch (const std::exception& error) {
    fmt::print(stderr, "kernel_seconds: {}\n", error.what());
    return 1;
  }
  return 0;
}
