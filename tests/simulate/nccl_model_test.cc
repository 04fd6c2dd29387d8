// SPDX-License-Identifier: Apache-2.0
//
// NCCL's model against published all-reduces (research/published/collectives.json). The correction
// by size was fitted to the sweep of 8 A100 alone; the other systems judge it.
#include "simulate/cost/nccl_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "common/base/input_file.h"
#include "common/json/parse.h"
#include "simulate/catalogue/catalogue.h"
#include "simulate/cost/operation_costs.h"

namespace tandem::nccl {
namespace {

// An all-reduce as published.
struct PublishedTime {
  Bytes size;
  double seconds = 0;
};

JsonDocument published_collectives() {
  const std::string text =
      read_whole({.path = TANDEM_PUBLISHED, .begins = "reading ", .most = mib(1)});
  return {JsonAuthor::kProgram, text, "collectives.json"};
}

// The rows of the system whose description begins with `hardware`.
std::vector<PublishedTime> published_times(std::string_view hardware, int ranks) {
  std::vector<PublishedTime> times;
  const JsonDocument document = published_collectives();
  for (const JsonValue& row : document.root().at("rows")) {
    if (!row.at("hardware").text().starts_with(hardware)) continue;
    const auto add = [&](std::string_view key, const auto& seconds) {
      const auto found = row.find(key);
      if (!found) return;
      for (const JsonValue& value : *found) {
        const Bytes size = parse_bytes(value.key(), "size");
        times.push_back({size, seconds(size, value.number())});
      }
    };
    add("time_us", [](Bytes, double us) { return us * 1e-6; });
    add("busbw", [ranks](Bytes size, double bandwidth) {
      return static_cast<double>(size.value) * 2 * (ranks - 1) / ranks / (bandwidth * 1e9);
    });
  }
  EXPECT_FALSE(times.empty()) << hardware;
  return times;
}

System system_named(const std::string& name, int ranks) {
  const HardwareDescription hardware = catalogued_hardware(name, "--hardware");
  const NcclTopology& topology = hardware.node.nccl.value();
  const int on_node = hardware.node.gpus.value;
  if (!hardware.network) return system_of(topology, ranks, on_node, 0).value();
  const auto& plugin = hardware.network->plugin_latency;
  return system_of(topology, ranks, on_node, hardware.network->link.bandwidth.value,
                   plugin ? Seconds(plugin->value).count() : 0)
      .value();
}

double error_at(const System& system, const PublishedTime& published) {
  const Nanoseconds time = time_of(system, Call::kAllReduce, published.size);
  return static_cast<double>(time.count()) * 1e-9 / published.seconds - 1;
}

// The mean error of the sizes from `least`, which is printed with each error.
double mean_error(const char* hardware, const System& system, Bytes least) {
  double sum = 0;
  int count = 0;
  for (const PublishedTime& published : published_times(hardware, system.ranks)) {
    const double error = error_at(system, published);
    std::printf("%s, %s: %+.1f %%\n", hardware, to_string(published.size).c_str(), 100 * error);
    if (published.size < least) continue;
    sum += std::abs(error);
    ++count;
  }
  std::printf("%s, from %s: mean %.1f %%\n", hardware, to_string(least).c_str(), 100 * sum / count);
  return sum / count;
}

TEST(NcclModel, FromTheDescriptionAlone_LargeAllReducesAreNear) {
  EXPECT_LT(mean_error("8x A100", system_named("dgx-a100", 8), mib(256)), 0.03);
  EXPECT_LT(mean_error("8x H200, NCCL", system_named("hgx-h200", 8), mib(256)), 0.06);
  EXPECT_LT(mean_error("8x B200", system_named("dgx-b200", 8), mib(256)), 0.06);
  EXPECT_LT(mean_error("4 nodes", system_named("dgx-b200x4@8xefa-400g", 32), mib(256)), 0.06);
}

// "8x H200 chooses ring up to 1 MiB and NVLS from 2 MiB" (stas00/ml-engineering); A100's switch
// does not reduce.
TEST(NcclModel, RingOrNvlsIsChosenAsNcclDoes) {
  const System h200 = system_named("hgx-h200", 8);
  for (const Bytes size : {kib(32), kib(256), mib(1)}) {
    EXPECT_EQ(choice_of(h200, Call::kAllReduce, size).algorithm, Algorithm::kRing)
        << to_string(size);
  }
  for (const Bytes size : {mib(2), mib(16), gib(1)}) {
    EXPECT_EQ(choice_of(h200, Call::kAllReduce, size).algorithm, Algorithm::kNvls)
        << to_string(size);
  }
  for (const Bytes size : {kib(32), mib(16), gib(1)}) {
    const Algorithm chosen =
        choice_of(system_named("dgx-a100", 8), Call::kAllReduce, size).algorithm;
    EXPECT_NE(chosen, Algorithm::kNvls) << to_string(size);
  }
  EXPECT_EQ(choice_of(h200, Call::kBroadcast, gib(1)).algorithm, Algorithm::kRing);
}

// Ring forced on 8 H200: 367.6 GB/s of bus bandwidth at 16 GiB (stas00/ml-engineering).
TEST(NcclModel, WithoutNvls_TheRingsBandwidthIsTheAsymptote) {
  System system = system_named("hgx-h200", 8);
  system.topology.nvls.reset();
  const Choice choice = choice_of(system, Call::kAllReduce, gib(16));
  EXPECT_EQ(choice.algorithm, Algorithm::kRing);
  EXPECT_NEAR(choice.bandwidth * 2 * 7 / 8 / 367.6e9, 1, 0.03);
}

TEST(NcclModel, LatenciesAreThoseOfTheTable) {
  const Choice ring = choice_of(system_named("dgx-a100", 8), Call::kAllReduce, Bytes{4});
  EXPECT_EQ(ring.protocol, Protocol::kLl);
  EXPECT_NEAR(ring.latency, (6.6 + 14 * 0.6) * 1e-6, 1e-9);
  System pair = system_named("dgx-1", 2);
  pair.topology.path.value = NcclPath::kPci;
  EXPECT_NEAR(choice_of(pair, Call::kAllReduce, Bytes{4}).latency, (6.6 + 2 * 1.0) * 1e-6, 1e-9);
}

// NCCL adds what the plugin reports once to each hop between nodes, and twice with Simple.
TEST(NcclModel, AnEndpointsLatencyCountsAtEachHopBetweenNodes) {
  const NcclTopology topology = catalogued_hardware("dgx-b200", "--hardware").node.nccl.value();
  const auto latency_of = [&](Bytes size, double plugin) {
    const System system = system_of(topology, 32, 8, 384e9, plugin).value();
    return choice_of(system, Call::kAllReduce, size).latency;
  };
  // Two levels of a tree of four nodes, up and down.
  EXPECT_NEAR(latency_of(gib(1), 35e-6) - latency_of(gib(1), 0), 4 * 2 * 35e-6, 1e-9);
  EXPECT_NEAR(latency_of(Bytes{4}, 35e-6) - latency_of(Bytes{4}, 0), 4 * 35e-6, 1e-9);
}

TEST(NcclModel, ChainsTakeTheModelsTime_WithoutTheCorrectionOfAllReduces) {
  const System system = system_named("dgx-a100", 4);
  for (const Call call : {Call::kBroadcast, Call::kReduce}) {
    const double modelled = modelled_seconds(choice_of(system, call, mib(10)), mib(10));
    const double time = static_cast<double>(time_of(system, call, mib(10)).count()) * 1e-9;
    EXPECT_NEAR(time / modelled, 1, 1e-4);
  }
  const double modelled = modelled_seconds(choice_of(system, Call::kAllReduce, mib(10)), mib(10));
  EXPECT_GT(static_cast<double>(time_of(system, Call::kAllReduce, mib(10)).count()) * 1e-9,
            1.5 * modelled);
}

TEST(NcclModel, OverPcie_AllReducesTakeTheModelsTime) {
  const System system = system_named("a100-pcie-box", 4);
  const double modelled = modelled_seconds(choice_of(system, Call::kAllReduce, mib(25)), mib(25));
  const double time = static_cast<double>(time_of(system, Call::kAllReduce, mib(25)).count());
  EXPECT_NEAR(time * 1e-9 / modelled, 1, 1e-4);
}

TEST(NcclModel, MoreBytesNeverTakeLess) {
  for (const CatalogueEntry& node : catalogue_nodes()) {
    const HardwareDescription hardware = catalogued_hardware(node.name, "--hardware");
    if (!hardware.node.nccl) continue;
    const System system = system_named(node.name, hardware.node.gpus.value);
    Nanoseconds before{0};
    for (std::int64_t size = 1; size <= gib(4).value; size *= 2) {
      const Nanoseconds time = time_of(system, Call::kAllReduce, Bytes{size});
      // NCCL's own correction of trees falls and rises, and may turn a size over.
      EXPECT_GE(static_cast<double>(time.count()) * 1.02, static_cast<double>(before.count()))
          << node.name << ", " << size;
      before = time;
    }
  }
}

TEST(NcclModel, NodesThatAreNotFilledAlike_HaveNoSystem) {
  const NcclTopology topology = catalogued_hardware("dgx-a100", "--hardware").node.nccl.value();
  EXPECT_FALSE(system_of(topology, 1, 8, 0));
  EXPECT_FALSE(system_of(topology, 12, 8, 1e11));
  EXPECT_FALSE(system_of(topology, 16, 8, 0));
  EXPECT_EQ(system_of(topology, 16, 8, 1e11).value().nodes, 2);
}

// Every other size of each second is left out, and predicted from its neighbours at fourfold
// spacing.
TEST(PublishedSweep, AtFourfoldSpacing_TellsTheSizesBetween) {
  const std::vector<PublishedTime> sweep = published_times("8x A100", 8);
  std::vector<double> small;
  std::vector<double> large;
  for (std::size_t offset = 0; offset < 2; ++offset) {
    std::vector<SizedTimes> curve;
    for (std::size_t i = offset; i < sweep.size(); i += 2) {
      curve.push_back({static_cast<double>(sweep[i].size.value), {sweep[i].seconds}});
    }
    for (std::size_t i = offset + 1; i + 1 < sweep.size(); i += 2) {
      const auto predicted = seconds_at(curve, static_cast<double>(sweep[i].size.value));
      const double error = std::abs(predicted.value().seconds.front() / sweep[i].seconds - 1);
      std::printf("%s: %.1f %%\n", to_string(sweep[i].size).c_str(), 100 * error);
      if (sweep[i].size >= mib(1)) (sweep[i].size <= mib(64) ? small : large).push_back(error);
    }
  }
  const auto mean = [](const std::vector<double>& errors) {
    double sum = 0;
    for (const double error : errors) sum += error;
    return sum / static_cast<double>(errors.size());
  };
  std::printf("1 to 64 MiB: %.1f %%, above: %.1f %%\n", 100 * mean(small), 100 * mean(large));
  EXPECT_LT(mean(small), 0.13);
  EXPECT_LT(mean(large), 0.06);
}

}  // namespace
}  // namespace tandem::nccl
