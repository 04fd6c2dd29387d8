// SPDX-License-Identifier: Apache-2.0
#include "simulate/catalogue/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "common/base/error.h"
#include "simulate/catalogue/description.h"
#include "tests/support/errors.h"

namespace tandem::test {
namespace {

using testing::HasSubstr;

std::string refusal_of_machine(const std::string& name) {
  const Error error = error_of([&] { static_cast<void>(find_hardware(name, "--hardware")); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  return error.what();
}

TEST(HardwareCatalogue, EveryNodeIsAMachine_OnItsOwnAndInACluster) {
  std::set<std::string> names;
  for (const CatalogueEntry& entry : catalogue_nodes()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    const HardwareDescription hardware = catalogued_hardware(entry.name, "--hardware");
    EXPECT_EQ(hardware.name, entry.name);
    EXPECT_EQ(hardware.nodes(), 1);
    const std::size_t also = entry.what.find("; also ");
    const bool is_second = entry.name == "dgx-2" || entry.name == "rtx-3090-pair";
    ASSERT_EQ(also == std::string::npos, is_second) << entry.name;
    const std::string called = is_second ? entry.name : entry.what.substr(also + 7);
    EXPECT_EQ(machine_name(called), entry.name);
    for (const CatalogueEntry& network : catalogue_networks()) {
      const std::string cluster = entry.name + "x128@" + network.name;
      EXPECT_EQ(catalogued_hardware(cluster, "--hardware").nodes(), 128) << cluster;
    }
  }
  EXPECT_GE(names.size(), 16U);
  EXPECT_EQ(catalogue_networks().size(), 7U);
}

TEST(HardwareCatalogue, PutsGpuNodeAndNetworkTogether) {
  const HardwareDescription node = catalogued_hardware("dgx-a100", "--hardware");
  EXPECT_EQ(node.gpu.name, "A100 SXM4 80GB");
  EXPECT_EQ(node.gpu.memory.value, gib(80));
  EXPECT_EQ(node.node.gpus.value, 8);
  EXPECT_DOUBLE_EQ(node.gpu.memory_share.value, 0.82);
  EXPECT_DOUBLE_EQ(node.gpu.product_share.value, 0.87);
  const HardwareDescription cluster = catalogued_hardware("dgx-a100x4@8xib-200g", "--hardware");
  EXPECT_EQ(cluster.nodes(), 4);
  EXPECT_DOUBLE_EQ(cluster.network.value().link.bandwidth.value, 8 * 24e9);
  EXPECT_THAT(cluster.network.value().link.bandwidth.source, HasSubstr("8 links a node"));
  const NodeDescription box = catalogued_hardware("rtx-4090-box", "--hardware").node;
  EXPECT_FALSE(box.peer_link);
  EXPECT_DOUBLE_EQ(box.staged_link.value().one_way.bandwidth.value, 22.2e9);
  EXPECT_DOUBLE_EQ(node.node.staged_link.value().both_ways.value, 15e9);  // with --p2p=off
}

// NVIDIA's datasheets give the half-precision peak of GPUs with tensor cores as a multiple of two.
TEST(HardwareCatalogue, GpusBeforeAmpereHaveFp16Alone) {
  for (const char* const name : {"dgx-1-p100", "dgx-1", "titan-rtx-box", "rtx-2080-ti-box"}) {
    const GpuDescription gpu = catalogued_hardware(name, "--hardware").gpu;
    EXPECT_TRUE(gpu.fp16) << name;
    EXPECT_FALSE(gpu.bf16) << name;
    EXPECT_FALSE(gpu.tf32) << name;
  }
  EXPECT_TRUE(catalogued_hardware("dgx-a100", "--hardware").gpu.bf16);
}

TEST(HardwareCatalogue, MachinesAreFilesThatReadTheSame) {
  for (const CatalogueEntry& entry : catalogue_nodes()) {
    const std::string text =
        hardware_text(catalogued_hardware(entry.name + "x2@efa-400g", "--hardware"));
    EXPECT_EQ(hardware_text(parse_hardware(text, "own.json")), text) << entry.name;
  }
}

TEST(HardwareCatalogue, NamesInResultsChangeWithTheFigures) {
  const std::string name = with_figures("dgx-a100", "--hardware");
  EXPECT_THAT(name, testing::MatchesRegex("dgx-a100#[0-9a-f]{16}"));
  EXPECT_EQ(with_figures("dgx-a100", "--hardware"), name);
  EXPECT_NE(with_figures("dgx-a100-40gb", "--hardware").substr(13), name.substr(8));
}

TEST(HardwareCatalogue, UnknownNames_AreRefusedWithTheNearest) {
  EXPECT_THAT(refusal_of_machine("dgx-a10"), HasSubstr("did you mean 'dgx-a100'?"));
  EXPECT_THAT(refusal_of_machine("dgx-a10x4@ib-200g"), HasSubstr("did you mean 'dgx-a100'?"));
  EXPECT_THAT(refusal_of_machine("dgx-a100x4@ib-20g"), HasSubstr("did you mean 'ib-200g'?"));
  EXPECT_THAT(refusal_of_machine("nothing-of-the-sort"), HasSubstr("tandem list hardware"));
  EXPECT_THAT(refusal_of_machine(""), HasSubstr("is unknown"));
}

TEST(HardwareCatalogue, NamesAsPeopleWriteThem_AreMachines) {
  for (const auto& [given, machine] :
       std::map<std::string, std::string>{{"a100", "dgx-a100"},
                                          {"H100", "dgx-h100"},
                                          {"v100", "dgx-1"},
                                          {"rtx3090", "rtx-3090-box"},
                                          {"RTX 4090", "rtx-4090-box"},
                                          {"rtx-3090x4", "rtx-3090-box"},
                                          {"a100-pcie", "a100-pcie-box"},
                                          {"a100x32", "dgx-a100x4@8xib-200g"},
                                          {"dgx-1", "dgx-1"},
                                          {"dgx-a100x2@ib-200g", "dgx-a100x2@ib-200g"},
                                          {"rtx-3090x64", "rtx-3090x64"},
                                          {"NVIDIA A100-SXM4-80GB", "dgx-a100"},
                                          {"NVIDIA A100-SXM4-40GB", "dgx-a100-40gb"},
                                          {"NVIDIA H100 80GB HBM3", "dgx-h100"},
                                          {"NVIDIA GeForce RTX 3090", "rtx-3090-box"},
                                          {"v100-16gb", "dgx-1-16gb"},
                                          {"v100-32gb", "dgx-1"},
                                          {"A100 40GB", "dgx-a100-40gb"},
                                          {"a100_80g", "dgx-a100"},
                                          {"a100-sxm-80gb", "dgx-a100"},
                                          {"a100-40gbx16", "dgx-a100-40gbx2@8xib-200g"},
                                          {"4xrtx3090", "rtx-3090-box"},
                                          {"100", "100"}}) {
    EXPECT_EQ(machine_name(given), machine) << given;
  }
  EXPECT_EQ(catalogued_hardware("rtx3090", "--hardware").name, "rtx-3090-box");
  EXPECT_THAT(refusal_of_machine("rtx5090"), HasSubstr("(did you mean 'rtx-3090'?)"));
  EXPECT_THAT(refusal_of_machine("rtx5090"), HasSubstr("tandem list hardware rtx-4090-box prints"));
  EXPECT_THAT(refusal_of_machine("h100-nvl-94gb"), HasSubstr("(there are dgx-h100, h100-pcie-box"));
  EXPECT_THAT(refusal_of_machine("abacus"), HasSubstr("tandem list hardware dgx-a100 prints"));
}

TEST(HardwareCatalogue, ClustersNeedANumberAndANetwork) {
  EXPECT_THAT(refusal_of_machine("dgx-a100x4"), HasSubstr("what joins the nodes?"));
  EXPECT_THAT(refusal_of_machine("dgx-a100@ib-200g"), HasSubstr("how many nodes"));
  EXPECT_THAT(refusal_of_machine("dgx-a100x0@ib-200g"), HasSubstr("not from 1 to"));
  EXPECT_THAT(refusal_of_machine("dgx-a100x2@99xib-200g"), HasSubstr("not from 1 to"));
  EXPECT_THAT(refusal_of_machine("dgx-a100x2@"), HasSubstr("is unknown"));
}

}  // namespace
}  // namespace tandem::test
