// SPDX-License-Identifier: Apache-2.0
//
// How NCCL carries out a collective and how long that takes: its own model chooses the algorithm
// and the protocol, and a correction by size, which published sweeps gave, makes a time of its
// figure, since the model alone is too fast below 256 MiB.
#pragma once

#include <array>
#include <optional>

#include "common/base/units.h"
#include "simulate/catalogue/description.h"

namespace tandem::nccl {

// The constants of NCCL's own model of its collectives, which belong to a version of NCCL.
// Latencies are in microseconds, bandwidths in GB/s.

inline constexpr std::size_t kProtocols = 3;    // LL, LL128, Simple
inline constexpr std::size_t kNodeCounts = 3;   // one node, two, more
inline constexpr std::size_t kGenerations = 4;  // Volta and before, Ampere, Hopper, Blackwell
inline constexpr std::size_t kSizeSteps = 24;   // powers of two from 64 B

using ByProtocol = std::array<double, kProtocols>;
using ByNodes = std::array<double, kNodeCounts>;

// Latencies of a step of a tree and of a ring.
struct StepLatencies {
  ByProtocol tree{};
  ByProtocol ring{};
  double nvls = 0;
  double nvls_tree = 0;
};

struct Constants {
  ByProtocol base_tree{};  // of a call
  ByProtocol base_ring{};
  StepLatencies nvlink{};
  StepLatencies pci{};
  StepLatencies network{};
  std::array<ByNodes, kGenerations> most_ll{};
  std::array<ByNodes, kGenerations> most_ring_ll128{};  // these and the next: of a channel
  std::array<ByNodes, kGenerations> most_tree_ll128{};
  std::array<ByNodes, kGenerations> most_tree{};
  std::array<ByNodes, kGenerations> most_nvls_tree{};
  std::array<double, kGenerations> nvls_efficiency{};
  // What trees reach of their bandwidth, by protocol and size.
  std::array<std::array<double, kSizeSteps>, kProtocols> tree_shares{};
};

// NCCL 2.30, src/graph/tuning.cc (Apache-2.0).
inline constexpr Constants kNccl230{
    .base_tree = {6.8, 14.0, 8.4},
    .base_ring = {6.6, 14.0, 8.4},
    .nvlink = {.tree = {0.6, 1.25, 4.0}, .ring = {0.6, 1.9, 3.4}, .nvls = 25, .nvls_tree = 25},
    .pci = {.tree = {1.0, 1.9, 4.0}, .ring = {1.0, 2.5, 5.7}},
    .network = {.tree = {5.0, 8.5, 14}, .ring = {2.7, 4.0, 14}, .nvls = 18, .nvls_tree = 20.9},
    .most_ll = {{{39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {141.0, 45.0, 35.0}, {282.0, 90.0, 70.0}}},
    .most_ring_ll128 = {{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {40, 40, 40}}},
    .most_tree_ll128 = {{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29.0}, {55.6, 31.67, 20.0}}},
    .most_tree = {{{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {70.0, 42.8, 24.0}}},
    .most_nvls_tree = {{{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96.0, 80.0}}},
    .nvls_efficiency = {0, 0, 0.85, 0.74},
    .tree_shares = {{{1.0, 1.0, 1.0, 1.0, .9, .8, .7, .7, .7, .7, .6,  .5,
                      .4,  .4,  .5,  .6,  .7, .8, .9, 1., 1., 1., 1.0, 1.0},
                     {1.0, 1.0, 1.0, 1.0, 1.0, .9, .8, .8, .8, .7,  .6,  .6,
                      .6,  .6,  .6,  .6,  .8,  .9, .9, .9, .9, 1.0, 1.0, 1.0},
                     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
                      .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}}}};

enum class Call { kAllReduce, kBroadcast, kReduce };
enum class Algorithm { kTree, kRing, kNvls, kNvlsTree };
enum class Protocol { kLl, kLl128, kSimple };

// The machine as NCCL sees it for a communicator's ranks, which fill one node after another.
struct System {
  NcclTopology topology;
  int ranks = 1;
  int nodes = 1;
  double network = 0;         // bytes per second of a node's link to the others; 0: one node
  double plugin_latency = 0;  // seconds, as the network's plugin reports
};

// The system of `ranks` ranks on nodes of `on_node` GPUs, whose links to the others carry `network`
// bytes per second each, after `plugin_latency` seconds by the network's plugin. Nothing where
// nodes would not be filled alike.
[[nodiscard]] std::optional<System> system_of(const NcclTopology& topology, int ranks, int on_node,
                                              double network, double plugin_latency = 0);

struct Choice {
  Algorithm algorithm = Algorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  double latency = 0;    // seconds, by NCCL's model
  double bandwidth = 0;  // bytes of the call per second, by NCCL's model
};

// What NCCL takes for a call of this size: the way that its model holds to be the fastest.
[[nodiscard]] Choice choice_of(const System& system, Call call, Bytes size,
                               const Constants& constants = kNccl230);

// The time of a call by the choice's figures, before the correction.
[[nodiscard]] double modelled_seconds(const Choice& choice, Bytes size);

// The time of a call.
[[nodiscard]] Nanoseconds time_of(const System& system, Call call, Bytes size);

}  // namespace tandem::nccl
