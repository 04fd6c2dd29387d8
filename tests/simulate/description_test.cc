// SPDX-License-Identifier: Apache-2.0
#include "simulate/catalogue/description.h"

#include <gtest/gtest.h>

#include <string>

#include "common/base/error.h"
#include "tests/support/errors.h"

namespace tandem {
namespace {

std::string figure(std::string_view value) {
  return fmt::format(R"({{"value": {}, "source": "a datasheet"}})", value);
}

std::string link(std::string_view bandwidth) {
  return fmt::format(R"({{"bandwidth": {}, "latency": {}}})", figure(bandwidth),
                     figure(R"("3us")"));
}

std::string gpu_text() {
  std::string text = R"({"name": "a GPU", "multiprocessors": )" + figure("108");
  const auto add = [&text](std::string_view key, std::string_view value) {
    text += fmt::format(R"(, "{}": {})", key, figure(value));
  };
  add("memory", R"("80GiB")");
  add("memory_bandwidth", R"("2TBps")");
  add("fp32", R"("19.5TFLOPS")");
  add("bf16", R"("312TFLOPS")");
  add("product_share", R"("80%")");
  add("memory_share", R"("82%")");
  add("least_time", R"("2.5us")");
  add("contention", R"("4%")");
  return text + "}";
}

std::string whole_text() {
  return fmt::format(
      R"({{"name": "a node", "gpu": {}, "node": {{"gpus": {}, "host_link": {}, "peer_link": {}}}, )"
      R"("host": {{"launch": {}, "wake": {}, "thread_start": {}}}}})",
      gpu_text(), figure("8"), link(R"("26GBps")"), link(R"("300GBps")"), figure(R"("4us")"),
      figure(R"("5us")"), figure(R"("30us")"));
}

// The text with `part`, which stands in it once, in place of another.
std::string with(std::string_view part, std::string_view instead) {
  std::string text = whole_text();
  const std::size_t at = text.find(part);
  EXPECT_NE(at, text.npos) << part;
  EXPECT_EQ(text.find(part, at + 1), text.npos) << part;
  return text.replace(at, part.size(), instead);
}

std::string refusal_of(const std::string& text) {
  const auto error =
      capture_error([&] { static_cast<void>(parse_hardware(text, "hardware own.json")); });
  EXPECT_TRUE(!error || error->kind() == ErrorKind::kUsage);
  return error ? error->what() : "none";
}

TEST(Hardware, IsReadWithItsUnitsAndSources) {
  const HardwareDescription hardware = parse_hardware(whole_text(), "hardware own.json");
  EXPECT_EQ(hardware.name, "a node");
  EXPECT_EQ(hardware.gpu.multiprocessors.value, 108);
  EXPECT_EQ(hardware.gpu.memory.value, gib(80));
  EXPECT_EQ(hardware.gpu.memory.source, "a datasheet");
  EXPECT_DOUBLE_EQ(hardware.gpu.memory_bandwidth.value, 2e12);
  EXPECT_DOUBLE_EQ(hardware.gpu.fp32.value, 19.5e12);
  EXPECT_FALSE(hardware.gpu.tf32);
  EXPECT_DOUBLE_EQ(hardware.gpu.bf16.value().value, 312e12);
  EXPECT_DOUBLE_EQ(hardware.gpu.product_share.value, 0.8);
  EXPECT_EQ(hardware.gpu.least_time.value, Nanoseconds{2500});
  EXPECT_DOUBLE_EQ(hardware.node.peer_link.value().bandwidth.value, 300e9);
  EXPECT_EQ(hardware.node.peer_link.value().latency.value, Nanoseconds{3000});
  EXPECT_EQ(hardware.host.thread_start.value, Nanoseconds{30'000});
}

TEST(Hardware, MayLackPeerLinks) {
  const std::string peer = fmt::format(R"(, "peer_link": {})", link(R"("300GBps")"));
  EXPECT_FALSE(parse_hardware(with(peer, ""), "hardware own.json").node.peer_link);
}

// The text with what goes through the host, over a link of 26 GBps to the host.
std::string with_staged(std::string_view one_way, std::string_view both_ways) {
  return with(R"("peer_link": )",
              fmt::format(R"("staged_link": {{"bandwidth": {}, "both_ways": {}, "latency": {}}}, )"
                          R"("peer_link": )",
                          figure(one_way), figure(both_ways), figure(R"("14us")")));
}

TEST(Hardware, MayTellWhatGoesThroughTheHost) {
  const HardwareDescription hardware =
      parse_hardware(with_staged(R"("20GBps")", R"("15GBps")"), "hardware own.json");
  const StagedLinkDescription& staged = hardware.node.staged_link.value();
  EXPECT_DOUBLE_EQ(staged.one_way.bandwidth.value, 20e9);
  EXPECT_DOUBLE_EQ(staged.both_ways.value, 15e9);
  EXPECT_EQ(staged.one_way.latency.value, Nanoseconds{14'000});
  for (const auto& [one_way, both_ways] :
       {std::pair{R"("27GBps")", R"("15GBps")"}, std::pair{R"("20GBps")", R"("21GBps")"}}) {
    EXPECT_NE(refusal_of(with_staged(one_way, both_ways)).find("node.staged_link"),
              std::string::npos);
  }
}

struct BadHardware {
  const char* part;
  const char* instead;
  const char* word;
};
class RefusedHardware : public ::testing::TestWithParam<BadHardware> {};

TEST_P(RefusedHardware, NamesFileKeyAndDefectInOneLine) {
  const std::string refusal = refusal_of(with(GetParam().part, GetParam().instead));
  EXPECT_NE(refusal.find("own.json"), refusal.npos) << refusal;
  EXPECT_NE(refusal.find(GetParam().word), refusal.npos) << refusal;
  EXPECT_EQ(refusal.find('\n'), refusal.npos) << refusal;
}

INSTANTIATE_TEST_SUITE_P(
    Texts, RefusedHardware,
    testing::Values(BadHardware{R"("80GiB")", R"("80")", "gpu.memory.value: '80' is no size"},
                    BadHardware{R"("80GiB")", R"("80kB")", "what no machine has"},
                    BadHardware{R"("80GiB")", "80", "gpu.memory.value"},
                    BadHardware{R"("2TBps")", R"("2TB")",
                                "gpu.memory_bandwidth.value: '2TB' is no bandwidth"},
                    BadHardware{R"("19.5TFLOPS")", R"("19.5")", "'19.5' is no speed"},
                    BadHardware{R"("19.5TFLOPS")", R"("19.5MFLOPS")", "what no machine has"},
                    BadHardware{R"("80%")", R"("0.8")", "percentage"},
                    BadHardware{R"("80%")", R"("0%")", "what no machine has"},
                    BadHardware{R"("2.5us")", R"("2.5s")", "gpu.least_time.value"},
                    BadHardware{R"("2.5us")", R"("-1us")", "is no duration"},
                    BadHardware{"108", "0", "gpu.multiprocessors.value"},
                    BadHardware{"108", "108.5", "gpu.multiprocessors.value"},
                    BadHardware{R"("300GBps")", R"("3TBps")", "faster than the GPU's memory"},
                    BadHardware{R"({"value": "80%", "source": "a datasheet"})",
                                R"({"value": "80%"})", "source"},
                    BadHardware{R"({"value": "80%", "source": "a datasheet"})",
                                R"({"value": "80%", "source": ""})", "gpu.product_share.source"},
                    BadHardware{R"({"value": "80%", "source": "a datasheet"})", R"("80%")",
                                "gpu.product_share"},
                    BadHardware{R"("product_share")", R"("product_shares")", "product_share"},
                    BadHardware{R"("host": )", R"("hosts": )", "hosts"},
                    BadHardware{R"("name": "a node")", R"("name": "")", "name"}));

// The text with a network of these figures.
std::string with_network(std::string_view nodes, std::string_view bandwidth) {
  return with(R"("host": )",
              fmt::format(R"("network": {{"nodes": {}, "bandwidth": {}, "latency": {}}}, "host": )",
                          figure(nodes), figure(bandwidth), figure(R"("14us")")));
}

TEST(Hardware, MayHaveANetwork) {
  EXPECT_EQ(parse_hardware(whole_text(), "hardware own.json").nodes(), 1);
  const HardwareDescription hardware =
      parse_hardware(with_network("128", R"("200GBps")"), "hardware own.json");
  EXPECT_EQ(hardware.nodes(), 128);
  EXPECT_DOUBLE_EQ(hardware.network.value().link.bandwidth.value, 200e9);
  EXPECT_EQ(hardware.network.value().link.latency.value, Nanoseconds{14'000});
}

TEST(Hardware, NetworksThatNobodyHas_AreRefused) {
  EXPECT_NE(refusal_of(with_network("0", R"("200GBps")")).find("network.nodes.value"),
            std::string::npos);
  EXPECT_NE(refusal_of(with_network("2", R"("200")")).find("network.bandwidth.value"),
            std::string::npos);
  EXPECT_NE(refusal_of(with(R"("host": )", R"("network": {"links": 1}, "host": )")).find("links"),
            std::string::npos);
}

// The text with NCCL's topology of these figures in its node.
std::string with_nccl(std::string_view generation, std::string_view channels,
                      std::string_view bandwidth) {
  return with(
      R"("peer_link": )",
      fmt::format(R"("nccl": {{"generation": {}, "path": {}, "channels": {}, )"
                  R"("channel_bandwidth": {}}}, "peer_link": )",
                  figure(generation), figure(R"("nvlink")"), figure(channels), figure(bandwidth)));
}

TEST(Hardware, MayHaveNcclsTopology) {
  const HardwareDescription hardware =
      parse_hardware(with_nccl(R"("ampere")", "12", R"("20GBps")"), "hardware own.json");
  const NcclTopology& nccl = hardware.node.nccl.value();
  EXPECT_EQ(nccl.generation.value, NcclGeneration::kAmpere);
  EXPECT_EQ(nccl.path.value, NcclPath::kNvlink);
  EXPECT_EQ(nccl.ring.count.value, 12);
  EXPECT_DOUBLE_EQ(nccl.ring.bandwidth.value, 20e9);
  EXPECT_FALSE(nccl.nvls);
}

TEST(Hardware, TopologiesThatNobodyHas_AreRefused) {
  EXPECT_NE(refusal_of(with_nccl(R"("amper")", "12", R"("20GBps")")).find("generation"),
            std::string::npos);
  EXPECT_NE(refusal_of(with_nccl(R"("ampere")", "0", R"("20GBps")")).find("channels"),
            std::string::npos);
  EXPECT_NE(refusal_of(with_nccl(R"("ampere")", "32", R"("200GBps")")).find("faster than"),
            std::string::npos);
}

TEST(Hardware, ThatIsNoJson_IsRefused) {
  EXPECT_NE(refusal_of("{").find("own.json"), std::string::npos);
  EXPECT_NE(refusal_of("[]").find("own.json"), std::string::npos);
}

TEST(Hardware, FileThatDoesNotExist_IsAUsageErrorThatNamesIt) {
  const Error error =
      test::error_of([&] { static_cast<void>(read_hardware("/nowhere/own.json")); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_NE(std::string(error.what()).find("/nowhere/own.json"), std::string::npos);
}

}  // namespace
}  // namespace tandem
