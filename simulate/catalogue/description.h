// SPDX-License-Identifier: Apache-2.0
//
// A machine as a simulation needs it: what a GPU computes and holds, what the links of a node
// carry, and what calls cost the host. Every figure has its source, which reports show.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/units.h"

namespace tandem {

template <class T>
struct SourcedFigure {
  T value{};
  std::string source;  // a datasheet, a measurement, or "assumed: ..." with the reason
};

struct GpuDescription {
  std::string name;  // "A100 SXM4 80GB"
  SourcedFigure<int> multiprocessors;
  SourcedFigure<Bytes> memory;
  SourcedFigure<double> memory_bandwidth;  // bytes per second
  // FLOP per second of dense matrix products by format; a GPU may lack all but fp32. No step is in
  // fp16: the figure says what a GPU without bf16 has.
  SourcedFigure<double> fp32;
  std::optional<SourcedFigure<double>> tf32;
  std::optional<SourcedFigure<double>> bf16;
  std::optional<SourcedFigure<double>> fp16;
  SourcedFigure<double> product_share;    // of these FLOP per second that large products reach
  SourcedFigure<double> memory_share;     // of the bandwidth that other operations reach
  SourcedFigure<Nanoseconds> least_time;  // of an operation, however small
  SourcedFigure<double> contention;       // how much longer operations take beside a collective
  // By how much steps of equal devices scatter, as a share of a step: their standard deviation.
  std::optional<SourcedFigure<double>> scatter{};
};

struct LinkDescription {
  SourcedFigure<double> bandwidth;  // bytes per second, in each direction
  SourcedFigure<Nanoseconds> latency;
};

// What GPUs without access to each other's memory send through the host's: the driver's copies in
// pieces, and NCCL's transport by shared memory. A GPU that sends and receives at once does both
// slower, since the host's root ports carry two directions worse than one.
struct StagedLinkDescription {
  LinkDescription one_way;
  SourcedFigure<double> both_ways;  // bytes per second in each direction, both at once
};

// What NCCL builds its channels on; it decides on constants of its own model.
enum class NcclGeneration { kPascal, kVolta, kAmpere, kHopper, kBlackwell };  // kVolta: Turing too
enum class NcclPath { kNvlink, kPci };

struct NcclChannels {
  SourcedFigure<int> count;
  SourcedFigure<double> bandwidth;  // of one, bytes per second
};

// How NCCL sees a node, as its log reports with NCCL_DEBUG_SUBSYS=GRAPH.
struct NcclTopology {
  SourcedFigure<NcclGeneration> generation;
  SourcedFigure<NcclPath> path;
  NcclChannels ring;
  std::optional<NcclChannels> nvls;  // reductions in the switch
};

struct NodeDescription {
  SourcedFigure<int> gpus;
  LinkDescription host_link;                 // of each GPU, to the host's memory
  std::optional<LinkDescription> peer_link;  // of each GPU, to all others; absent: through the host
  // What each GPU sends to others through the host; absent: as host_link carries it.
  std::optional<StagedLinkDescription> staged_link{};
  std::optional<NcclTopology> nccl{};  // absent: collectives go by the links
};

// What joins nodes. A node's link to the others is shared by its ranks.
struct NetworkDescription {
  SourcedFigure<int> nodes;
  LinkDescription link;  // of each node, all its network interfaces together
  // The latency that the network's plugin reports to NCCL, which adds it to each hop between nodes,
  // with the protocol Simple twice (src/graph/tuning.cc, latencyInter); absent: none.
  std::optional<SourcedFigure<Nanoseconds>> plugin_latency{};
};

// What calls cost the thread that makes them.
struct HostDescription {
  SourcedFigure<Nanoseconds> launch;  // an operation, a copy, an event's record or wait
  // Until a stream goes on that stood still for another device's; absent: at once.
  std::optional<SourcedFigure<Nanoseconds>> stream_wake;
  SourcedFigure<Nanoseconds> wake;          // until a thread goes on that waited for another
  SourcedFigure<Nanoseconds> thread_start;  // until a new thread runs
};

struct HardwareDescription {
  std::string name;
  GpuDescription gpu;
  NodeDescription node;
  std::optional<NetworkDescription> network;  // absent: one node
  HostDescription host;

  [[nodiscard]] int nodes() const { return network ? network->nodes.value : 1; }
};

// By the numbers of NcclGeneration and NcclPath.
inline constexpr std::array<std::string_view, 5> kNcclGenerations{"pascal", "volta", "ampere",
                                                                  "hopper", "blackwell"};
inline constexpr std::array<std::string_view, 2> kNcclPaths{"nvlink", "pci"};

// Reads a description's text; `source` begins every error. Throws a usage error of one line, which
// names the key, for a figure without unit or source, for a figure that no machine has, and for a
// key that is missing or unknown.
[[nodiscard]] HardwareDescription parse_hardware(std::string_view text, const std::string& source);

// The text that parse_hardware() reads, of a file that describes the machine.
[[nodiscard]] std::string hardware_text(const HardwareDescription& hardware);

// The description in a file.
[[nodiscard]] HardwareDescription read_hardware(const std::filesystem::path& file);

}  // namespace tandem
