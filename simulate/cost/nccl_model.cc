// SPDX-License-Identifier: Apache-2.0
#include "simulate/cost/nccl_model.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tandem::nccl {
namespace {

// The correction, fitted to the published sweep of 8 A100 (docs/method/hardware.md): a call takes
// 1 + sqrt(kCorrectedBytes / size) times as long as modelled, but no more than 1 + kMostCorrection.
constexpr double kCorrectedBytes = 6.0 * (1 << 20);
constexpr double kMostCorrection = 0.6;
// The least time of a call, in latencies of its fastest way, for the smallest calls of that sweep.
constexpr double kFloor = 2.9;

constexpr double kMicro = 1e-6;
constexpr double kGiga = 1e9;

std::size_t index(Protocol protocol) { return static_cast<std::size_t>(protocol); }

// The row of the tables by generation.
std::size_t row_of(NcclGeneration generation) {
  switch (generation) {
    case NcclGeneration::kPascal:
    case NcclGeneration::kVolta:
      return 0;
    case NcclGeneration::kAmpere:
      return 1;
    case NcclGeneration::kHopper:
      return 2;
    case NcclGeneration::kBlackwell:
      break;
  }
  return 3;
}

int floor_log2(std::int64_t number) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(number))) - 1;
}

// What NCCL reckons a call to take on a system, by algorithm and protocol.
class CallModel {
 public:
  CallModel(const System& system, const Constants& constants, Call call)
      : system_(system), constants_(constants), call_(call) {}

  [[nodiscard]] bool exists(Algorithm algorithm, Protocol protocol) const {
    const bool is_all_reduce = call_ == Call::kAllReduce;
    switch (algorithm) {
      case Algorithm::kRing:
        break;
      case Algorithm::kTree:
        if (!is_all_reduce) return false;
        break;
      case Algorithm::kNvls:
        return system_.nodes == 1 && has_nvls(protocol) && is_all_reduce;
      case Algorithm::kNvlsTree:
        return system_.nodes > 1 && has_nvls(protocol) && is_all_reduce;
    }
    if (protocol != Protocol::kLl128) return true;
    return is_nvlink() && system_.topology.generation.value != NcclGeneration::kPascal;
  }

  [[nodiscard]] Choice figures(Algorithm algorithm, Protocol protocol, Bytes size) const {
    Choice choice{.algorithm = algorithm, .protocol = protocol};
    choice.latency = latency(algorithm, protocol, size) * kMicro;
    choice.bandwidth =
        bandwidth(algorithm, protocol) * tree_share(algorithm, protocol, size) * kGiga;
    return choice;
  }

 private:
  [[nodiscard]] bool is_nvlink() const { return system_.topology.path.value == NcclPath::kNvlink; }
  [[nodiscard]] bool has_nvls(Protocol protocol) const {
    return protocol == Protocol::kSimple && system_.topology.nvls && system_.ranks > 2;
  }
  [[nodiscard]] std::size_t generation() const { return row_of(system_.topology.generation.value); }
  [[nodiscard]] std::size_t node_index() const {
    return static_cast<std::size_t>(std::min(system_.nodes, 3) - 1);
  }
  // LL among nodes goes by the host's maker, which descriptions lack: Intel's with Volta, then
  // AMD's.
  [[nodiscard]] double most_ll() const {
    const std::size_t row =
        system_.nodes == 1 ? generation() : std::min<std::size_t>(generation(), 1);
    return constants_.most_ll[row][node_index()];
  }
  [[nodiscard]] int steps() const {
    return call_ == Call::kAllReduce ? 2 * (system_.ranks - 1) : system_.ranks;
  }

  // GB/s of a channel, which among nodes is no faster than its part of the network.
  [[nodiscard]] double channel(const NcclChannels& channels) const {
    const double within = channels.bandwidth.value / kGiga;
    if (system_.nodes == 1) return within;
    return std::min(within, system_.network / kGiga / channels.count.value);
  }

  [[nodiscard]] double ring_bandwidth(Protocol protocol) const {
    const NcclChannels& channels = system_.topology.ring;
    const double all = channels.count.value * channel(channels);
    if (protocol == Protocol::kLl) return std::min(most_ll(), 0.5 * all);
    if (protocol == Protocol::kSimple) return all;
    return std::min(0.92 * all,
                    channels.count.value * constants_.most_ring_ll128[generation()][node_index()]);
  }

  [[nodiscard]] double tree_bandwidth(Protocol protocol) const {
    const NcclChannels& channels = system_.topology.ring;
    const double count = channels.count.value;
    const double all = std::min(0.92 * count * channel(channels),
                                count * constants_.most_tree[generation()][node_index()]);
    if (protocol == Protocol::kLl) return std::min(all / 3.8, most_ll());
    if (protocol == Protocol::kSimple) return all;
    return std::min(all * (system_.nodes == 1 ? 7.0 / 9.0 : 120.0 / 128.0),
                    count * constants_.most_tree_ll128[generation()][node_index()]);
  }

  [[nodiscard]] double nvls_bandwidth(Algorithm algorithm) const {
    const NcclChannels& channels = *system_.topology.nvls;
    const double count = channels.count.value;
    const double one = channels.bandwidth.value / kGiga * constants_.nvls_efficiency[generation()] *
                       (count - 1) / count * 2;
    if (algorithm == Algorithm::kNvls) return count * one;
    const double among = system_.network / kGiga / count * (system_.nodes == 2 ? 2 : 1);
    return count * std::min({one, among, constants_.most_nvls_tree[generation()][node_index()]});
  }

  // The GB/s of the call's bytes.
  [[nodiscard]] double bandwidth(Algorithm algorithm, Protocol protocol) const {
    const double around = static_cast<double>(system_.ranks) / steps();
    switch (algorithm) {
      case Algorithm::kRing:
        return around * ring_bandwidth(protocol);
      case Algorithm::kTree:
        return 0.5 * tree_bandwidth(protocol);
      case Algorithm::kNvls:
      case Algorithm::kNvlsTree:
        break;
    }
    return around * nvls_bandwidth(algorithm);
  }

  [[nodiscard]] double tree_share(Algorithm algorithm, Protocol protocol, Bytes size) const {
    const bool is_tree = algorithm == Algorithm::kTree;
    const bool is_late_nvls_tree = algorithm == Algorithm::kNvlsTree &&
                                   system_.topology.generation.value == NcclGeneration::kBlackwell;
    if ((!is_tree && !is_late_nvls_tree) || size.value < 64) return 1;
    const int power = floor_log2(size.value >> 6);
    const int most = static_cast<int>(kSizeSteps) - (is_tree ? 1 : 0);
    if (power >= most) return 1;
    return constants_.tree_shares[index(protocol)][static_cast<std::size_t>(power)];
  }

  // In microseconds.
  [[nodiscard]] double latency(Algorithm algorithm, Protocol protocol, Bytes size) const {
    const StepLatencies& within = is_nvlink() ? constants_.nvlink : constants_.pci;
    const StepLatencies& among = constants_.network;
    const std::size_t by = index(protocol);
    const int nodes = system_.nodes;
    const int on_node = system_.ranks / nodes;
    switch (algorithm) {
      case Algorithm::kRing:
        return constants_.base_ring[by] + ring_steps(within, protocol, size);
      case Algorithm::kTree:
        return constants_.base_tree[by] +
               2 * ((on_node - 1) * within.tree[by] +
                    floor_log2(nodes) * (among.tree[by] + plugin(protocol)));
      case Algorithm::kNvls:
        return within.nvls;
      case Algorithm::kNvlsTree:
        break;
    }
    return within.nvls_tree + 2 * floor_log2(nodes) * (among.nvls_tree + plugin(protocol));
  }

  // What the network's plugin adds to a hop between nodes: with Simple the data is flushed as well.
  [[nodiscard]] double plugin(Protocol protocol) const {
    return system_.plugin_latency / kMicro * (protocol == Protocol::kSimple ? 2 : 1);
  }

  [[nodiscard]] double ring_steps(const StepLatencies& within, Protocol protocol,
                                  Bytes size) const {
    const std::size_t by = index(protocol);
    const int nodes = system_.nodes;
    // With one rank a node nothing hides the network's latency.
    const StepLatencies& network = constants_.network;
    const double among =
        (nodes == system_.ranks ? network.tree[by] : network.ring[by]) + plugin(protocol);
    if (call_ != Call::kAllReduce) {
      return nodes > 1 ? network.ring[by] : within.ring[by];
    }
    constexpr double kNetworkPost = 2;  // microseconds of the host's; thrice with Simple
    const double post = protocol == Protocol::kSimple ? 3 * kNetworkPost : kNetworkPost;
    const double step = nodes > 1 ? std::max(within.ring[by], post) : within.ring[by];
    const int away = 2 * (nodes - 1);
    const double all = (steps() - away) * step + away * among;
    const bool is_long = nodes > 1 && protocol == Protocol::kSimple &&
                         size.value / (system_.topology.ring.count.value * system_.ranks) >= 64;
    if (!is_long) return all;
    const double plateau = generation() == 0 ? 1.9 : 1.4;
    return all * plateau + (plateau - 1) * constants_.base_ring[by];
  }

  const System& system_;
  const Constants& constants_;
  const Call call_;
};

// Calls fn(algorithm, protocol) for each choice that the system has.
template <class Fn>
void for_each_choice(const CallModel& model, const Fn& fn) {
  for (const Algorithm algorithm :
       {Algorithm::kTree, Algorithm::kRing, Algorithm::kNvls, Algorithm::kNvlsTree}) {
    for (const Protocol protocol : {Protocol::kLl, Protocol::kLl128, Protocol::kSimple}) {
      if (model.exists(algorithm, protocol)) fn(algorithm, protocol);
    }
  }
}

}  // namespace

std::optional<System> system_of(const NcclTopology& topology, int ranks, int on_node,
                                double network, double plugin_latency) {
  System system{.topology = topology, .ranks = ranks};
  if (ranks < 2) return std::nullopt;
  if (ranks <= on_node) return system;
  if (ranks % on_node != 0 || network <= 0) return std::nullopt;
  system.nodes = ranks / on_node;
  system.network = network;
  system.plugin_latency = plugin_latency;
  return system;
}

double modelled_seconds(const Choice& choice, Bytes size) {
  return choice.latency + static_cast<double>(size.value) / choice.bandwidth;
}

Choice choice_of(const System& system, Call call, Bytes size, const Constants& constants) {
  const CallModel model(system, constants, call);
  std::optional<Choice> best;
  for_each_choice(model, [&](Algorithm algorithm, Protocol protocol) {
    const Choice one = model.figures(algorithm, protocol, size);
    if (!best || modelled_seconds(one, size) < modelled_seconds(*best, size)) best = one;
  });
  return *best;
}

Nanoseconds time_of(const System& system, Call call, Bytes size) {
  const CallModel model(system, kNccl230, call);
  const double modelled = modelled_seconds(choice_of(system, call, size), size);
  const double bytes = std::max<double>(1, static_cast<double>(size.value));
  // All-reduces over NVLink gave the correction. Chains pass each byte once, and no published sweep
  // says that they, or calls over PCIe, whose bytes take ten times as long, are slower than
  // modelled.
  const bool is_corrected =
      call == Call::kAllReduce && system.topology.path.value == NcclPath::kNvlink;
  const double slower =
      is_corrected ? 1 + std::min(kMostCorrection, std::sqrt(kCorrectedBytes / bytes)) : 1;
  double latency = 1;
  for_each_choice(model, [&](Algorithm algorithm, Protocol protocol) {
    latency = std::min(latency, model.figures(algorithm, protocol, Bytes{1}).latency);
  });
  const double seconds = std::max(modelled * slower, kFloor * latency);
  return Nanoseconds{std::llround(seconds * 1e9)};
}

}  // namespace tandem::nccl
