// SPDX-License-Identifier: Apache-2.0
//
// Progressive filling: the link with the least left for each of its transfers decides their rate;
// those transfers are then settled, and what they take is taken off the other links on their ways.
#include "common/runtime/simulated/fair_shares.h"

#include <algorithm>
#include <limits>

namespace tandem::simulated {
namespace {

constexpr double kUnsettled = -1;

// What is left of a link, and for how many transfers.
struct LinkRest {
  double bytes_per_second = 0;
  int transfers = 0;

  [[nodiscard]] double share() const {
    return transfers == 0 ? std::numeric_limits<double>::infinity() : bytes_per_second / transfers;
  }
};

bool crosses(const Path& path, LinkId link) { return std::ranges::find(path, link) != path.end(); }

}  // namespace

std::vector<double> fair_rates(std::span<const double> links, std::span<const Path* const> paths) {
  std::vector<LinkRest> rests;
  for (const double bytes_per_second : links) rests.push_back({bytes_per_second, 0});
  for (const Path* const path : paths) {
    for (const LinkId link : *path) ++rests[index_of(link)].transfers;
  }
  std::vector<double> rates(paths.size(), kUnsettled);
  for (std::size_t settled = 0; settled < paths.size();) {
    const auto narrowest = std::ranges::min_element(rests, {}, &LinkRest::share);
    const double share = narrowest->share();
    const auto link = static_cast<LinkId>(narrowest - rests.begin());
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (rates[i] != kUnsettled || !crosses(*paths[i], link)) continue;
      rates[i] = share;
      ++settled;
      for (const LinkId crossed : *paths[i]) {
        rests[index_of(crossed)].bytes_per_second -= share;
        --rests[index_of(crossed)].transfers;
      }
    }
  }
  return rates;
}

}  // namespace tandem::simulated
