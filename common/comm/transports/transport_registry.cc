// SPDX-License-Identifier: Apache-2.0
#include "common/comm/transports/transport_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <optional>
#include <utility>

#include "common/base/error.h"
#include "common/comm/mpi/mpi_communicator.h"
#include "common/comm/nccl_module.h"
#include "common/comm/node_layout.h"
#include "common/comm/shared_memory/shared_memory.h"
#include "common/comm/solo.h"
#include "common/comm/staged.h"
#include "common/comm/transports/simulated_transport.h"
#include "common/runtime/device.h"

namespace tandem {

namespace {

std::atomic<const SimulatedTransport*> registered_simulation{nullptr};

constexpr char kBetween = '\n';

[[noreturn]] void refuse_nccl(const std::string& why) {
  fail(ErrorKind::kUsage, "the transport nccl: {}; or use the transport auto", why);
}

// Ranks that share a GPU go through the host, unless NCCL is allowed to take it more than once.
TransportChoice choose_for_shared_gpus(Transport asked, const RankFacts& facts) {
  const bool may_be_nccl = asked == Transport::kAuto || asked == Transport::kNccl;
  if (may_be_nccl && facts.nccl_shares) {
    return {Transport::kNccl, Route::kDirect,
            fmt::format("nccl: {}, which NCCL_MULTI_RANK_GPU_ENABLE allows", facts.sharing)};
  }
  if (asked == Transport::kNccl) refuse_nccl(facts.sharing + ", and NCCL wants one for each");
  const Transport usual = facts.are_threads ? Transport::kSharedMemory : Transport::kMpi;
  const Transport transport = asked == Transport::kAuto ? usual : asked;
  return {transport, Route::kStaged,
          fmt::format("{} through the host: {}", name_of(transport), facts.sharing)};
}

// One rank drives all devices of a launch by threads, so nothing is moved between ranks; what the
// devices' own communicators are, they ask for themselves.
bool is_solo(Transport asked, const RankFacts& facts) {
  return facts.ranks == 1 && facts.are_threads && asked != Transport::kNccl;
}

TransportChoice choose_for_gpus(Transport asked, const RankFacts& facts) {
  const bool is_auto = asked == Transport::kAuto;
  if (is_solo(asked, facts)) return {asked, Route::kSolo, ""};
  if (facts.ranks == 1 && is_auto && !facts.no_nccl.empty()) return {asked, Route::kSolo, ""};
  if (!facts.sharing.empty()) return choose_for_shared_gpus(asked, facts);
  if (!facts.no_nccl.empty()) {
    fail(ErrorKind::kUsage, "collectives between GPUs are NCCL's: {}", facts.no_nccl);
  }
  if (!is_auto && asked != Transport::kNccl) {
    fail(ErrorKind::kUsage,
         "the transport {} moves the host's memory, and each rank has a GPU of its own, between "
         "which collectives are NCCL's: use the transport auto",
         name_of(asked));
  }
  return {Transport::kNccl, Route::kDirect,
          is_auto ? "nccl: each rank has a GPU of its own" : "nccl: as asked"};
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

void register_simulated_transport(const SimulatedTransport& transport) {
  registered_simulation = &transport;
}

const SimulatedTransport& simulated_transport() {
  const SimulatedTransport* const registered = registered_simulation;
  TANDEM_CHECK(registered != nullptr, "communicators of a simulation that is not registered");
  return *registered;
}

TransportChoice decide_transport(Transport asked, const RankFacts& facts) {
  if (facts.backend == Backend::kCuda) return choose_for_gpus(asked, facts);
  if (facts.backend == Backend::kSimulated) {
    const Route between = facts.are_threads ? Route::kInTurn : Route::kFolded;
    return {asked, facts.ranks == 1 ? Route::kSolo : between, ""};
  }
  if (asked != Transport::kNccl) return {asked, Route::kDirect, ""};
  refuse_nccl("it is between GPUs, and these devices are cores");
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

namespace {

// Collective; loads NCCL where it may be taken.
RankFacts find_rank_facts(Transport asked, Bootstrap& bootstrap, Device& device) {
  RankFacts facts{.backend = device.id().backend,
                  .ranks = bootstrap.size(),
                  .are_threads = bootstrap.shares_address_space()};
  if (facts.backend != Backend::kCuda || is_solo(asked, facts)) return facts;
  const NodeLayout nodes = find_nodes(bootstrap);
  const NcclProbe nccl = probe_nccl();
  facts.nccl_shares = takes_shared_gpus(nccl);
  const std::string mine =
      fmt::format("{}{}{:d}{}", device.hardware(), kBetween, facts.nccl_shares, nccl.trouble);
  std::vector<std::string> hardware;
  int rank = 0;
  for (const std::string& theirs : bootstrap.all_gather(mine)) {
    const std::size_t end = theirs.find(kBetween);
    hardware.push_back(fmt::format("{} {}", nodes.node_of(rank++), theirs.substr(0, end)));
    if (theirs.at(end + 1) == '0') facts.nccl_shares = false;
    if (facts.no_nccl.empty()) facts.no_nccl = theirs.substr(end + 2);
  }
  if (!first_alike(hardware)) facts.nccl_shares = false;  // slices of a GPU (MIG) are not meant
  facts.sharing = sharing_of(hardware);
  return facts;
}

std::unique_ptr<Communicator> make_direct(Transport transport, Bootstrap& bootstrap, Device& device,
                                          const CommunicatorOptions& options) {
  if (transport == Transport::kNccl) {
    return find_nccl_module()->make_communicator(bootstrap, device, options);
  }
  const int nodes = find_nodes(bootstrap).nodes();
  if (transport == Transport::kMpi || (transport == Transport::kAuto && nodes > 1)) {
    return make_mpi_communicator(bootstrap, device, options);
  }
  if (nodes > 1) {
    fail(ErrorKind::kUsage,
         "the transport shared_memory is one node's, and the ranks run on {}: use auto or mpi",
         nodes);
  }
  return make_shared_memory_communicator(bootstrap, device, options);
}

}  // namespace

std::string_view name_of(Transport transport) {
  switch (transport) {
    case Transport::kAuto:
      return "auto";
    case Transport::kSharedMemory:
      return "shared_memory";
    case Transport::kMpi:
      return "mpi";
    case Transport::kNccl:
      return "nccl";
  }
  return "";
}

TransportChoice choose_transport(Transport asked, Bootstrap& bootstrap, Device& device) {
  return decide_transport(asked, find_rank_facts(asked, bootstrap, device));
}

std::unique_ptr<Communicator> make_communicator(const TransportChoice& choice, Bootstrap& bootstrap,
                                                Device& device,
                                                const CommunicatorOptions& options) {
  switch (choice.route) {
    case Route::kSolo:
      return make_solo_communicator(device, options);
    case Route::kFolded:
      return simulated_transport().make_folded(bootstrap.size(), device, options);
    case Route::kInTurn:
      return simulated_transport().make_of_thread(bootstrap, device, options);
    case Route::kStaged:
      return make_staged_communicator(
          bootstrap, device, options, [&](Device& host, const CommunicatorOptions& of_host) {
            return make_direct(choice.transport, bootstrap, host, of_host);
          });
    case Route::kDirect:
      break;
  }
  return make_direct(choice.transport, bootstrap, device, options);
}

std::unique_ptr<Communicator> make_communicator(Transport asked, Bootstrap& bootstrap,
                                                Device& device,
                                                const CommunicatorOptions& options) {
  return make_communicator(choose_transport(asked, bootstrap, device), bootstrap, device, options);
}

}  // namespace tandem
