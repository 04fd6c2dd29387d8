// SPDX-License-Identifier: Apache-2.0
#include "common/comm/transport_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "common/base/error.h"
#include "common/comm/nccl_module.h"
#include "common/comm/node_layout.h"
#include "common/runtime/device.h"

namespace tandem {
namespace {

constexpr char kBetween = '\n';

TransportChoice staged(Transport transport, const std::string& why) {
  return {transport, Route::kStaged,
          fmt::format("{} through the host: {}", name_of(transport), why)};
}

TransportChoice choose_for_gpus(const RankFacts& facts) {
  // One rank drives all devices of a launch by threads, so nothing is moved between ranks.
  if (facts.ranks == 1 && facts.are_threads) return {Transport::kAuto, Route::kSolo, ""};
  if (facts.sharing.empty() && facts.no_nccl.empty()) {
    return {Transport::kNccl, Route::kDirect, "nccl: each rank has a GPU of its own"};
  }
  return staged(facts.are_threads ? Transport::kSharedMemory : Transport::kMpi,
                facts.sharing.empty() ? facts.no_nccl : facts.sharing);
}

[[noreturn]] void refuse_nccl(const std::string& why) {
  fail(ErrorKind::kUsage, "the transport nccl: {}; or take the transport auto", why);
}

TransportChoice choose_nccl(const RankFacts& facts) {
  if (facts.backend != Backend::kCuda)
    refuse_nccl("it is between GPUs, and these devices are cores");
  if (!facts.sharing.empty()) refuse_nccl(facts.sharing + ", and NCCL wants one for each");
  if (!facts.no_nccl.empty()) refuse_nccl(facts.no_nccl);
  return {Transport::kNccl, Route::kDirect, "nccl: as asked"};
}

// The indices of the first two equal names.
std::optional<std::pair<std::ptrdiff_t, std::ptrdiff_t>> first_alike(
    const std::vector<std::string>& names) {
  for (auto first = names.begin(); first != names.end(); ++first) {
    const auto second = std::find(std::next(first), names.end(), *first);
    if (second != names.end()) return {{first - names.begin(), second - names.begin()}};
  }
  return std::nullopt;
}

}  // namespace

TransportChoice decide_transport(Transport asked, const RankFacts& facts) {
  if (asked == Transport::kNccl) return choose_nccl(facts);
  if (facts.backend == Backend::kHost) return {asked, Route::kDirect, ""};
  return asked == Transport::kAuto ? choose_for_gpus(facts) : staged(asked, "as asked");
}

std::string sharing_of(const std::vector<std::string>& hardware) {
  if (const auto two = first_alike(hardware)) {
    return fmt::format("ranks {} and {} share a GPU", two->first, two->second);
  }
  std::vector<std::string> gpus;
  for (const std::string& name : hardware) {
    const std::size_t address = name.find(' ') + 1;  // the address follows the node's number
    gpus.push_back(name.substr(0, address) + pci_address_of(name.substr(address)));
  }
  const auto two = first_alike(gpus);
  if (!two) return "";
  return fmt::format("ranks {} and {} have slices of one GPU (MIG)", two->first, two->second);
}

RankFacts find_rank_facts(Transport asked, Bootstrap& bootstrap, Device& device) {
  RankFacts facts{.backend = device.id().backend,
                  .ranks = bootstrap.size(),
                  .are_threads = bootstrap.shares_address_space()};
  const bool is_solo = facts.ranks == 1 && facts.are_threads && asked == Transport::kAuto;
  const bool may_be_nccl = asked == Transport::kAuto || asked == Transport::kNccl;
  if (facts.backend != Backend::kCuda || !may_be_nccl || is_solo) return facts;
  const NodeLayout nodes = find_nodes(bootstrap);
  const std::string mine = device.hardware() + kBetween + probe_nccl().trouble;
  std::vector<std::string> hardware;
  int rank = 0;
  for (const std::string& theirs : bootstrap.all_gather(mine)) {
    const std::size_t end = theirs.find(kBetween);
    hardware.push_back(fmt::format("{} {}", nodes.node_of(rank++), theirs.substr(0, end)));
    if (facts.no_nccl.empty()) facts.no_nccl = theirs.substr(end + 1);
  }
  facts.sharing = sharing_of(hardware);
  return facts;
}

}  // namespace tandem
