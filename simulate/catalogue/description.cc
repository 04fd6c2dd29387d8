// SPDX-License-Identifier: Apache-2.0
#include "simulate/catalogue/description.h"

#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <span>

#include "common/base/error.h"
#include "common/base/input_file.h"
#include "common/json/parse.h"
#include "common/json/writer.h"
#include "simulate/catalogue/description_reading.h"

namespace tandem {

namespace {

constexpr Bytes kLargestFile = mib(1);
constexpr std::size_t kLongestSource = 400;

// What machines have, with room for what is still to come; a slip of a unit lies outside.
template <class T>
struct Bounds {
  T least;
  T most;
};
constexpr Bounds<int> kCounts{1, 1024};
constexpr Bounds<int> kChannels{1, 64};
constexpr Bounds<int> kDepths{1, 1 << 16};
constexpr Bounds<int> kNodes{1, 1 << 20};
constexpr Bounds<Bytes> kMemory{mib(1), gib(4096)};
constexpr Bounds<double> kBandwidth{1e6, 1e14};
constexpr Bounds<double> kFlops{1e8, 1e17};
constexpr Bounds<double> kShare{0.01, 1};
constexpr Bounds<double> kContention{0, 1};
constexpr Bounds<Nanoseconds> kCost{Nanoseconds{0}, std::chrono::milliseconds(100)};

// How errors of a figure begin: "hardware a100.json: gpu.memory".
std::string place_of(const JsonValue& json) {
  return fmt::format("{}: {}", json.source(), json.path());
}

std::string text_of(const JsonValue& value) { return value.line(); }

template <class T>
T within(const JsonValue& value, T figure, const Bounds<T>& bounds) {
  if (figure < bounds.least || figure > bounds.most) {
    value.complain(fmt::format("{} is what no machine has: check figure and unit", shown(value)));
  }
  return figure;
}

// Reads {"value": ..., "source": ...} with `parse`, which takes the value.
template <class T, class Parse>
void read_figure(const JsonValue& json, SourcedFigure<T>& to, const Bounds<T>& bounds,
                 const Parse& parse) {
  json.expect_object();
  json.allow({"value", "source"});
  const JsonValue value = json.at("value");
  to.value = within(value, parse(value), bounds);
  to.source = json.at("source").line(kLongestSource);
}

// A figure that is one of `names`, by its number.
template <class T>
void read_name(const JsonValue& json, SourcedFigure<T>& to,
               std::span<const std::string_view> names) {
  json.expect_object();
  json.allow({"value", "source"});
  to.value = static_cast<T>(json.at("value").one_of(names));
  to.source = json.at("source").line(kLongestSource);
}

int channels_in(const JsonValue& value) {
  return static_cast<int>(value.whole(kChannels.least, kChannels.most));
}
int count_in(const JsonValue& value) {
  return static_cast<int>(value.whole(kCounts.least, kCounts.most));
}
int depth_in(const JsonValue& value) {
  return static_cast<int>(value.whole(kDepths.least, kDepths.most));
}
int nodes_in(const JsonValue& value) {
  return static_cast<int>(value.whole(kNodes.least, kNodes.most));
}
Bytes bytes_in(const JsonValue& value) { return parse_bytes(text_of(value), place_of(value)); }
Nanoseconds duration_in(const JsonValue& value) {
  return parse_duration(text_of(value), place_of(value));
}
double bandwidth_in(const JsonValue& value) {
  return parse_bandwidth(text_of(value), place_of(value));
}
double flops_in(const JsonValue& value) { return parse_flops(text_of(value), place_of(value)); }
double percentage_in(const JsonValue& value) {
  return parse_percentage(text_of(value), place_of(value));
}

void read_flops(const JsonPart& gpu, std::string_view key,
                std::optional<SourcedFigure<double>>& to) {
  if (const auto found = gpu.find(key)) read_figure(*found, to.emplace(), kFlops, flops_in);
}

void read_shares(const JsonValue& json, OperationShares& shares) {
  json.allow({"product", "plain_product", "plain_convolution", "convolution", "attention",
              "normalisation", "tile", "half_depth"});
  read_figure(json.at("product"), shares.product, kShare, percentage_in);
  read_figure(json.at("plain_product"), shares.plain_product, kShare, percentage_in);
  read_figure(json.at("plain_convolution"), shares.plain_convolution, kShare, percentage_in);
  read_figure(json.at("convolution"), shares.convolution, kShare, percentage_in);
  read_figure(json.at("attention"), shares.attention, kShare, percentage_in);
  read_figure(json.at("normalisation"), shares.normalisation, kShare, percentage_in);
  read_figure(json.at("tile"), shares.tile, kCounts, count_in);
  read_figure(json.at("half_depth"), shares.half_depth, kDepths, depth_in);
}

void read_link_figures(const JsonValue& json, LinkDescription& link) {
  read_figure(json.at("bandwidth"), link.bandwidth, kBandwidth, bandwidth_in);
  read_figure(json.at("latency"), link.latency, kCost, duration_in);
}

void read_node(const JsonValue& json, NodeDescription& node) {
  json.allow({"gpus", "host_link", "peer_link", "staged_link", "nccl"});
  read_gpu_count(json.at("gpus"), node.gpus);
  read_link(json.at("host_link"), node.host_link);
  if (const auto found = json.find("peer_link")) read_link(*found, node.peer_link.emplace());
  if (const auto found = json.find("staged_link")) {
    read_staged_link(*found, node.staged_link.emplace());
  }
  if (const auto found = json.find("nccl")) read_nccl(*found, node.nccl.emplace());
}

// What is staged in the host's memory crosses the links to it.
void check_staged(const JsonValue& json, const NodeDescription& node) {
  if (!node.staged_link) return;
  const double to_host = node.host_link.bandwidth.value;
  const double one_way = node.staged_link->one_way.bandwidth.value;
  const double both_ways = node.staged_link->both_ways.value;
  if (one_way <= to_host && both_ways <= one_way) return;
  json.at("staged_link")
      .complain(fmt::format("{:.4g} GBps one way and {:.4g} GBps both ways, over a host_link of "
                            "{:.4g} GBps: both ways take no more than one, and one no more than "
                            "the link",
                            one_way * 1e-9, both_ways * 1e-9, to_host * 1e-9));
}

}  // namespace

void read_network_link(const JsonValue& json, NetworkDescription& network) {
  read_link_figures(json, network.link);
  if (const auto found = json.find("plugin_latency")) {
    read_figure(*found, network.plugin_latency.emplace(), kCost, duration_in);
  }
}

void read_gpu(const JsonPart& json, GpuDescription& gpu) {
  json.own().allow({"name", "multiprocessors", "memory", "memory_bandwidth", "fp32", "tf32", "bf16",
                    "fp16", "product_share", "memory_share", "least_time", "contention", "shares"});
  gpu.name = json.at("name").line();
  read_figure(json.at("multiprocessors"), gpu.multiprocessors, kCounts, count_in);
  read_figure(json.at("memory"), gpu.memory, kMemory, bytes_in);
  read_figure(json.at("memory_bandwidth"), gpu.memory_bandwidth, kBandwidth, bandwidth_in);
  read_figure(json.at("fp32"), gpu.fp32, kFlops, flops_in);
  read_flops(json, "tf32", gpu.tf32);
  read_flops(json, "bf16", gpu.bf16);
  read_flops(json, "fp16", gpu.fp16);
  read_figure(json.at("product_share"), gpu.product_share, kShare, percentage_in);
  read_figure(json.at("memory_share"), gpu.memory_share, kShare, percentage_in);
  read_figure(json.at("least_time"), gpu.least_time, kCost, duration_in);
  read_figure(json.at("contention"), gpu.contention, kContention, percentage_in);
  if (const auto found = json.find("shares")) read_shares(*found, gpu.shares.emplace());
}

void read_gpu_count(const JsonValue& json, SourcedFigure<int>& gpus) {
  read_figure(json, gpus, kCounts, count_in);
}

void read_link(const JsonValue& json, LinkDescription& link) {
  json.allow({"bandwidth", "latency"});
  read_link_figures(json, link);
}

void read_staged_link(const JsonValue& json, StagedLinkDescription& staged) {
  json.allow({"bandwidth", "both_ways", "latency"});
  read_link_figures(json, staged.one_way);
  read_figure(json.at("both_ways"), staged.both_ways, kBandwidth, bandwidth_in);
}

void read_host(const JsonValue& json, HostDescription& host) {
  json.allow({"launch", "stream_wake", "wake", "thread_start"});
  read_figure(json.at("launch"), host.launch, kCost, duration_in);
  if (const auto found = json.find("stream_wake")) {
    read_figure(*found, host.stream_wake.emplace(), kCost, duration_in);
  }
  read_figure(json.at("wake"), host.wake, kCost, duration_in);
  read_figure(json.at("thread_start"), host.thread_start, kCost, duration_in);
}

void check_links(const JsonValue& json, const HardwareDescription& hardware) {
  const double memory = hardware.gpu.memory_bandwidth.value;
  const auto check_link = [&](std::string_view key, const LinkDescription& link) {
    if (link.bandwidth.value <= memory) return;
    json.at(key).complain(
        fmt::format("a link of {:.4g} GBps is faster than the GPU's memory, of {:.4g} GBps: check "
                    "both",
                    link.bandwidth.value * 1e-9, memory * 1e-9));
  };
  if (hardware.node.nccl) {
    const NcclChannels& ring = hardware.node.nccl->ring;
    check_link("nccl", {{ring.count.value * ring.bandwidth.value, ""}, {}});
  }
  check_link("host_link", hardware.node.host_link);
  if (hardware.node.peer_link) check_link("peer_link", *hardware.node.peer_link);
  check_staged(json, hardware.node);
}

void read_nccl(const JsonValue& json, NcclTopology& nccl) {
  json.allow({"generation", "path", "channels", "channel_bandwidth", "nvls_channels",
              "nvls_channel_bandwidth"});
  read_name<NcclGeneration>(json.at("generation"), nccl.generation, kNcclGenerations);
  read_name<NcclPath>(json.at("path"), nccl.path, kNcclPaths);
  const auto read_channels = [&](std::string_view count, std::string_view bandwidth,
                                 NcclChannels& channels) {
    read_figure(json.at(count), channels.count, kChannels, channels_in);
    read_figure(json.at(bandwidth), channels.bandwidth, kBandwidth, bandwidth_in);
  };
  read_channels("channels", "channel_bandwidth", nccl.ring);
  if (json.has("nvls_channels") || json.has("nvls_channel_bandwidth")) {
    read_channels("nvls_channels", "nvls_channel_bandwidth", nccl.nvls.emplace());
  }
}

HardwareDescription parse_hardware(std::string_view text, const std::string& source) {
  const JsonDocument document(JsonAuthor::kPerson, text, source);
  const JsonValue json = document.root();
  json.expect_object();
  json.allow({"name", "gpu", "node", "network", "host"});
  HardwareDescription hardware;
  hardware.name = json.at("name").line();
  read_gpu(JsonPart(json.at("gpu")), hardware.gpu);
  read_node(json.at("node"), hardware.node);
  if (const auto found = json.find("network")) {
    NetworkDescription& network = hardware.network.emplace();
    found->allow({"nodes", "bandwidth", "latency", "plugin_latency"});
    read_figure(found->at("nodes"), network.nodes, kNodes, nodes_in);
    read_network_link(*found, network);
  }
  read_host(json.at("host"), hardware.host);
  check_links(json.at("node"), hardware);
  return hardware;
}

HardwareDescription read_hardware(const std::filesystem::path& file) {
  const std::string source = fmt::format("hardware {}", file.string());
  const std::string text =
      read_whole({.path = file, .begins = "reading hardware ", .most = kLargestFile});
  return parse_hardware(text, source);
}

namespace {

// Writes figures as texts with their units, in digits that give the same figure again.
class FigureTexts {
 public:
  explicit FigureTexts(JsonWriter& writer) : writer_(writer) {}

  void count(std::string_view key, const SourcedFigure<int>& figure) {
    open(key);
    writer_.value("value", figure.value);
    end(figure.source);
  }
  void bytes(std::string_view key, const SourcedFigure<Bytes>& figure) {
    value(key, fmt::format("{}B", figure.value.value), figure.source);
  }
  void time(std::string_view key, const SourcedFigure<Nanoseconds>& figure) {
    value(key, fmt::format("{}ns", figure.value.count()), figure.source);
  }
  void bandwidth(std::string_view key, const SourcedFigure<double>& figure) {
    value(key, fmt::format("{:.12g}GBps", figure.value / 1e9), figure.source);
  }
  void flops(std::string_view key, const SourcedFigure<double>& figure) {
    value(key, fmt::format("{:.12g}TFLOPS", figure.value / 1e12), figure.source);
  }
  void flops(std::string_view key, const std::optional<SourcedFigure<double>>& figure) {
    if (figure) flops(key, *figure);
  }
  void share(std::string_view key, const SourcedFigure<double>& figure) {
    value(key, fmt::format("{:.12g}%", figure.value * 100), figure.source);
  }
  void link_figures(const LinkDescription& link) {
    bandwidth("bandwidth", link.bandwidth);
    time("latency", link.latency);
  }
  void link(std::string_view key, const LinkDescription& link) {
    open(key);
    link_figures(link);
    writer_.close();
  }

  template <class T, std::size_t n>
  void name(std::string_view key, const SourcedFigure<T>& figure,
            const std::array<std::string_view, n>& names) {
    value(key, std::string(names.at(static_cast<std::size_t>(figure.value))), figure.source);
  }

  void open(std::string_view key) { writer_.open(key, '{'); }
  void close() { writer_.close(); }

 private:
  void end(const std::string& source) {
    writer_.value("source", source);
    writer_.close();
  }
  void value(std::string_view key, const std::string& text, const std::string& source) {
    open(key);
    writer_.value("value", text);
    end(source);
  }

  JsonWriter& writer_;
};

void write_gpu(JsonWriter& writer, const GpuDescription& gpu) {
  FigureTexts out(writer);
  writer.open("gpu", '{');
  writer.value("name", gpu.name);
  out.count("multiprocessors", gpu.multiprocessors);
  out.bytes("memory", gpu.memory);
  out.bandwidth("memory_bandwidth", gpu.memory_bandwidth);
  out.flops("fp32", gpu.fp32);
  out.flops("tf32", gpu.tf32);
  out.flops("bf16", gpu.bf16);
  out.flops("fp16", gpu.fp16);
  out.share("product_share", gpu.product_share);
  out.share("memory_share", gpu.memory_share);
  out.time("least_time", gpu.least_time);
  out.share("contention", gpu.contention);
  if (gpu.shares) {
    out.open("shares");
    out.share("product", gpu.shares->product);
    out.share("plain_product", gpu.shares->plain_product);
    out.share("plain_convolution", gpu.shares->plain_convolution);
    out.share("convolution", gpu.shares->convolution);
    out.share("attention", gpu.shares->attention);
    out.share("normalisation", gpu.shares->normalisation);
    out.count("tile", gpu.shares->tile);
    out.count("half_depth", gpu.shares->half_depth);
    writer.close();
  }
  writer.close();
}

void write_nccl(FigureTexts& out, const NcclTopology& nccl) {
  out.open("nccl");
  out.name("generation", nccl.generation, kNcclGenerations);
  out.name("path", nccl.path, kNcclPaths);
  out.count("channels", nccl.ring.count);
  out.bandwidth("channel_bandwidth", nccl.ring.bandwidth);
  if (nccl.nvls) {
    out.count("nvls_channels", nccl.nvls->count);
    out.bandwidth("nvls_channel_bandwidth", nccl.nvls->bandwidth);
  }
  out.close();
}

void write_node(JsonWriter& writer, const NodeDescription& node) {
  FigureTexts out(writer);
  writer.open("node", '{');
  out.count("gpus", node.gpus);
  out.link("host_link", node.host_link);
  if (node.peer_link) out.link("peer_link", *node.peer_link);
  if (node.staged_link) {
    out.open("staged_link");
    out.link_figures(node.staged_link->one_way);
    out.bandwidth("both_ways", node.staged_link->both_ways);
    out.close();
  }
  if (node.nccl) write_nccl(out, *node.nccl);
  writer.close();
}

void write_host(JsonWriter& writer, const HostDescription& host) {
  FigureTexts out(writer);
  writer.open("host", '{');
  out.time("launch", host.launch);
  if (host.stream_wake) out.time("stream_wake", *host.stream_wake);
  out.time("wake", host.wake);
  out.time("thread_start", host.thread_start);
  writer.close();
}

}  // namespace

std::string hardware_text(const HardwareDescription& hardware) {
  constexpr std::size_t kIndent = 2;
  std::string text;
  JsonWriter writer(text, kIndent);
  writer.open("", '{');
  writer.value("name", hardware.name);
  write_gpu(writer, hardware.gpu);
  write_node(writer, hardware.node);
  if (hardware.network) {
    writer.open("network", '{');
    FigureTexts out(writer);
    out.count("nodes", hardware.network->nodes);
    out.link_figures(hardware.network->link);
    if (hardware.network->plugin_latency) {
      out.time("plugin_latency", *hardware.network->plugin_latency);
    }
    writer.close();
  }
  write_host(writer, hardware.host);
  writer.close();
  writer.finish();
  return text;
}

}  // namespace tandem
