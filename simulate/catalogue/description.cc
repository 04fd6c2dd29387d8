// SPDX-License-Identifier: Apache-2.0
#include "simulate/catalogue/description.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/base/error.h"
#include "common/base/input_file.h"
#include "common/json/parse.h"
#include "common/json/writer.h"
#include "simulate/catalogue/description_reading.h"

namespace tandem {

namespace {

constexpr Bytes kLargestFile = mib(1);
constexpr std::size_t kLongestSource = 400;

// A kind of figure: what machines have of it, with room for what is still to come, so that a slip
// of a unit lies outside; and the text with its unit, in digits that give the same figure again.
// Without texts it is a whole number.
template <class T>
struct Kind {
  T least;
  T most;
  T (*parsed)(std::string_view text, std::string_view what) = nullptr;
  std::string (*text)(const T& figure) = nullptr;
};

std::string bytes_text(const Bytes& size) { return fmt::format("{}B", size.value); }
std::string time_text(const Nanoseconds& time) { return fmt::format("{}ns", time.count()); }
std::string bandwidth_text(const double& speed) { return fmt::format("{:.12g}GBps", speed / 1e9); }
std::string flops_text(const double& speed) { return fmt::format("{:.12g}TFLOPS", speed / 1e12); }
std::string share_text(const double& share) { return fmt::format("{:.12g}%", share * 100); }

constexpr Kind<int> kCounts{1, 1024};
constexpr Kind<int> kChannels{1, 64};
constexpr Kind<int> kNodes{1, 1 << 20};
constexpr Kind<Bytes> kMemory{mib(1), gib(4096), parse_bytes, bytes_text};
constexpr Kind<double> kBandwidth{1e6, 1e14, parse_bandwidth, bandwidth_text};
constexpr Kind<double> kFlops{1e8, 1e17, parse_flops, flops_text};
constexpr Kind<double> kShare{0.01, 1, parse_percentage, share_text};
constexpr Kind<double> kContention{0, 1, parse_percentage, share_text};
constexpr Kind<Nanoseconds> kCost{Nanoseconds{0}, std::chrono::milliseconds(100), parse_duration,
                                  time_text};

// The figures of each part, in the order of a file: `f` takes a key, a figure, and its kind, or the
// names where the figure is one of several.

constexpr auto each_of_gpu = [](auto&& f, auto& gpu) {
  f("multiprocessors", gpu.multiprocessors, kCounts);
  f("memory", gpu.memory, kMemory);
  f("memory_bandwidth", gpu.memory_bandwidth, kBandwidth);
  f("fp32", gpu.fp32, kFlops);
  f("tf32", gpu.tf32, kFlops);
  f("bf16", gpu.bf16, kFlops);
  f("fp16", gpu.fp16, kFlops);
  f("product_share", gpu.product_share, kShare);
  f("memory_share", gpu.memory_share, kShare);
  f("least_time", gpu.least_time, kCost);
  f("contention", gpu.contention, kContention);
  f("scatter", gpu.scatter, kContention);
};

constexpr auto each_of_link = [](auto&& f, auto& link) {
  f("bandwidth", link.bandwidth, kBandwidth);
  f("latency", link.latency, kCost);
};

constexpr auto each_of_staged = [](auto&& f, auto& staged) {
  each_of_link(f, staged.one_way);
  f("both_ways", staged.both_ways, kBandwidth);
};

constexpr auto each_of_network = [](auto&& f, auto& network) {
  each_of_link(f, network.link);
  f("plugin_latency", network.plugin_latency, kCost);
};

constexpr auto each_of_nccl = [](auto&& f, auto& nccl) {
  f("generation", nccl.generation, kNcclGenerations);
  f("path", nccl.path, kNcclPaths);
  f("channels", nccl.ring.count, kChannels);
  f("channel_bandwidth", nccl.ring.bandwidth, kBandwidth);
};

constexpr auto each_of_nvls = [](auto&& f, auto& channels) {
  f("nvls_channels", channels.count, kChannels);
  f("nvls_channel_bandwidth", channels.bandwidth, kBandwidth);
};

constexpr auto each_of_host = [](auto&& f, auto& host) {
  f("launch", host.launch, kCost);
  f("stream_wake", host.stream_wake, kCost);
  f("wake", host.wake, kCost);
  f("thread_start", host.thread_start, kCost);
};

// Complains of keys that are neither of the figures of `each` nor among `others`.
template <class Part, class Each>
void allow(const JsonValue& json, const Each& each,
           std::initializer_list<std::string_view> others) {
  std::vector<std::string_view> keys = others;
  Part none;
  each([&](std::string_view key, const auto&, const auto&) { keys.push_back(key); }, none);
  json.allow(keys);
}

// Reads {"value": ..., "source": ...} of each figure; one that is optional may be missing.
class FigureReader {
 public:
  explicit FigureReader(const JsonPart& json) : json_(json) {}

  template <class T, class How>
  void operator()(std::string_view key, SourcedFigure<T>& to, const How& how) const {
    read(json_.at(key), to, how);
  }
  template <class T, class How>
  void operator()(std::string_view key, std::optional<SourcedFigure<T>>& to, const How& how) const {
    if (const auto found = json_.find(key)) read(*found, to.emplace(), how);
  }

  template <class T, class How>
  static void read(const JsonValue& json, SourcedFigure<T>& to, const How& how) {
    json.expect_object();
    json.allow({"value", "source"});
    to.value = in<T>(json.at("value"), how);
    to.source = json.at("source").line(kLongestSource);
  }

 private:
  template <class T>
  static T in(const JsonValue& value, const Kind<T>& kind) {
    if constexpr (std::is_same_v<T, int>) {
      return static_cast<int>(value.whole(kind.least, kind.most));
    } else {
      const T figure =
          kind.parsed(value.line(), fmt::format("{}: {}", value.source(), value.path()));
      if (figure < kind.least || figure > kind.most) {
        value.complain(
            fmt::format("{} is what no machine has: check figure and unit", shown(value)));
      }
      return figure;
    }
  }
  template <class T, std::size_t n>
  static T in(const JsonValue& value, const std::array<std::string_view, n>& names) {
    return static_cast<T>(value.one_of(names));
  }

  JsonPart json_;
};

// Writes what FigureReader reads.
class FigureWriter {
 public:
  explicit FigureWriter(JsonWriter& writer) : writer_(writer) {}

  template <class T, class How>
  void operator()(std::string_view key, const SourcedFigure<T>& figure, const How& how) const {
    writer_.open(key, '{');
    if constexpr (std::is_same_v<T, int>) {
      writer_.value("value", figure.value);
    } else {
      writer_.value("value", text_of(figure.value, how));
    }
    writer_.value("source", figure.source);
    writer_.close();
  }
  template <class T, class How>
  void operator()(std::string_view key, const std::optional<SourcedFigure<T>>& figure,
                  const How& how) const {
    if (figure) (*this)(key, *figure, how);
  }

 private:
  template <class T>
  static std::string text_of(const T& figure, const Kind<T>& kind) {
    return kind.text(figure);
  }
  template <class T, std::size_t n>
  static std::string text_of(const T& figure, const std::array<std::string_view, n>& names) {
    return std::string(names.at(static_cast<std::size_t>(figure)));
  }

  JsonWriter& writer_;
};

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
  each_of_network(FigureReader(JsonPart(json)), network);
}

void read_gpu(const JsonPart& json, GpuDescription& gpu) {
  allow<GpuDescription>(json.own(), each_of_gpu, {"name"});
  gpu.name = json.at("name").line();
  each_of_gpu(FigureReader(json), gpu);
}

void read_gpu_count(const JsonValue& json, SourcedFigure<int>& gpus) {
  FigureReader::read(json, gpus, kCounts);
}

void read_link(const JsonValue& json, LinkDescription& link) {
  allow<LinkDescription>(json, each_of_link, {});
  each_of_link(FigureReader(JsonPart(json)), link);
}

void read_staged_link(const JsonValue& json, StagedLinkDescription& staged) {
  allow<StagedLinkDescription>(json, each_of_staged, {});
  each_of_staged(FigureReader(JsonPart(json)), staged);
}

void read_host(const JsonValue& json, HostDescription& host) {
  allow<HostDescription>(json, each_of_host, {});
  each_of_host(FigureReader(JsonPart(json)), host);
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
  allow<NcclTopology>(json, each_of_nccl, {"nvls_channels", "nvls_channel_bandwidth"});
  const FigureReader read{JsonPart(json)};
  each_of_nccl(read, nccl);
  if (json.has("nvls_channels") || json.has("nvls_channel_bandwidth")) {
    each_of_nvls(read, nccl.nvls.emplace());
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
    allow<NetworkDescription>(*found, each_of_network, {"nodes"});
    FigureReader::read(found->at("nodes"), network.nodes, kNodes);
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

std::string hardware_text(const HardwareDescription& hardware) {
  constexpr std::size_t kIndent = 2;
  std::string text;
  JsonWriter writer(text, kIndent);
  const FigureWriter figures(writer);
  const auto part = [&](std::string_view key, const auto& each, const auto& of) {
    writer.open(key, '{');
    each(figures, of);
    writer.close();
  };
  writer.open("", '{');
  writer.value("name", hardware.name);
  writer.open("gpu", '{');
  writer.value("name", hardware.gpu.name);
  each_of_gpu(figures, hardware.gpu);
  writer.close();
  const NodeDescription& node = hardware.node;
  writer.open("node", '{');
  figures("gpus", node.gpus, kCounts);
  part("host_link", each_of_link, node.host_link);
  if (node.peer_link) part("peer_link", each_of_link, *node.peer_link);
  if (node.staged_link) part("staged_link", each_of_staged, *node.staged_link);
  if (node.nccl) {
    writer.open("nccl", '{');
    each_of_nccl(figures, *node.nccl);
    if (node.nccl->nvls) each_of_nvls(figures, *node.nccl->nvls);
    writer.close();
  }
  writer.close();
  if (hardware.network) {
    writer.open("network", '{');
    figures("nodes", hardware.network->nodes, kNodes);
    each_of_network(figures, *hardware.network);
    writer.close();
  }
  part("host", each_of_host, hardware.host);
  writer.close();
  writer.finish();
  return text;
}

}  // namespace tandem
