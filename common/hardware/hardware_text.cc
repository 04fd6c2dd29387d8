// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "common/hardware/description.h"
#include "common/json/writer.h"

namespace tandem {
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
