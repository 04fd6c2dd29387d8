// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/answer/report.h"
#include "reports/answer/verdict.h"
#include "reports/model/subject.h"
#include "reports/render/formats.h"
#include "reports/tables/cells.h"
#include "reports/text/table.h"
#include "tests/reports/synthetic.h"
#include "tests/reports/whole_text.h"

namespace tandem::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Turns all launches into torch's, of a user's module.
Synthetic& as_torch(Synthetic& synthetic) {
  for (results::LaunchRecord& record : synthetic.document().launches) {
    record.cell.options[kImplementation] = "torch-2.15.0";
    record.cell.model = "own.py:build#0123456789abcdef";
    if (record.cell.strategy == "independent") record.cell.launch = "processes";
  }
  return synthetic;
}

void set_option(Synthetic& synthetic, const std::string& name, const std::string& value,
                std::size_t from) {
  auto& launches = synthetic.document().launches;
  for (std::size_t i = from; i < launches.size(); ++i) launches[i].cell.options[name] = value;
}

VerdictText torch_verdict_of(Synthetic& synthetic) {
  const Summary summary = summarize(synthetic.document());
  return verdict(synthetic.document(), summary);
}

TEST(TorchVerdict, OfOneComparison_IsTheWholeAnswer) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.4, 0.4}).add("dp", 4, {0.18, 0.18}).add("ddp", 4, {0.1, 0.1});
  const VerdictText text = torch_verdict_of(as_torch(synthetic));
  EXPECT_EQ(text.subject, "CPU only: 2 cores of Test CPU, says nothing about GPUs");
  EXPECT_EQ(text.overall,
            "PyTorch 2.15.0: own.py:build, batch 64 (16 per device), 4 devices: "
            "DistributedDataParallel is 1.80 times as fast as DataParallel (95 % interval 1.80 to "
            "1.80). DistributedDataParallel takes 100.0 ms [100.0 .. 100.0] a step, 4.00x [4.00 .. "
            "4.00] the speed of one process (single).");
  EXPECT_TRUE(text.workloads.empty());
}

TEST(TorchVerdict, WithoutDataParallel_IsAgainstOneProcessAndTheBound) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.2, 0.2})
      .add("independent", 2, {0.1, 0.1})
      .add("ddp", 2, {0.125, 0.125});
  const VerdictText text = torch_verdict_of(as_torch(synthetic));
  EXPECT_THAT(
      text.overall,
      HasSubstr(
          "2 devices: DistributedDataParallel takes 125.0 ms [125.0 .. 125.0] a step, 1.60x"));
  EXPECT_THAT(text.overall, HasSubstr("the speed of one process (single), 0.80x"));
  EXPECT_NE(text.overall.find("DataParallel was not measured"), std::string::npos);
  EXPECT_TRUE(text.breaks.empty());
}

TEST(TorchVerdict, OfSeveralWorkloads_CountsThem) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.2, 0.2}).add("ddp", 2, {0.1, 0.1});
  synthetic.add("dp", 2, {0.1, 0.1}, 128).add("ddp", 2, {0.2, 0.2}, 128);
  const VerdictText text = torch_verdict_of(as_torch(synthetic));
  EXPECT_EQ(text.overall,
            "PyTorch 2.15.0: of 2 comparisons with DataParallel on 2 devices, "
            "DistributedDataParallel is faster in 1, slower in 1; not resolved: 0.");
  EXPECT_THAT(text.workloads[1],
              HasSubstr("DataParallel is 2.00 times as fast as DistributedDataParallel"));
  ASSERT_FALSE(text.breaks.empty());
  EXPECT_NE(text.breaks[0].find("the break-even lies between batch 64"), std::string::npos);
}

TEST(TorchVerdict, NamesTheFastestVariant_OfDistributedDataParallel) {
  Synthetic synthetic;
  synthetic.add("ddp", 2, {0.2, 0.2, 0.2});
  const std::size_t plain = synthetic.document().launches.size();
  synthetic.add("ddp", 2, {0.16, 0.16, 0.16});
  set_option(synthetic, "grads", "views", plain);
  const VerdictText text = torch_verdict_of(as_torch(synthetic));
  EXPECT_THAT(text.overall, HasSubstr("Faster still with grads=views: 1.25x"));
}

TEST(TorchVerdict, OfMicroBatches_IsBesideStepsInOnePiece_AndNamesThem) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.4, 0.4}).add("dp", 2, {0.36, 0.36});
  const std::size_t plain = synthetic.document().launches.size();
  synthetic.add("ddp", 2, {0.2, 0.2});
  set_option(synthetic, "accumulate", "2", plain);
  const std::string overall = torch_verdict_of(as_torch(synthetic)).overall;
  EXPECT_THAT(overall,
              HasSubstr("DistributedDataParallel (accumulate=2) is 1.80 times as fast as Data"));
  EXPECT_THAT(overall, HasSubstr("2.00x [2.00 .. 2.00] the speed of one process"));
}

TEST(TorchVerdict, OfShardedState_HasTimeAndMemory_BesideDistributedDataParallel) {
  Synthetic synthetic;
  synthetic.add("ddp", 2, {0.1, 0.1}).add("fsdp", 2, {0.15, 0.15}).add("fsdp", 1, {0.3, 0.3});
  for (results::LaunchRecord& record : synthetic.document().launches) {
    const std::int64_t mib = record.cell.strategy == "ddp" ? 40 : 30;
    record.memory = {{.device = 0, .peak_bytes = (mib - 1) << 20},
                     {.device = 1, .peak_bytes = mib << 20}};
  }
  synthetic.add_without_time("zero1", 2, results::Status::kSkipped, "out of memory: a tensor");
  const VerdictText text = torch_verdict_of(as_torch(synthetic));
  ASSERT_EQ(text.workloads.size(), 1U);
  EXPECT_EQ(text.workloads[0],
            "own.py:build, batch 64 (32 per device), 2 devices: a step and a device's tensors: "
            "ddp 100.0 ms [100.0 .. 100.0], 40.0 MiB; fsdp 150.0 ms [150.0 .. 150.0] (1.50x "
            "[1.50 .. 1.50] of ddp's), 30.0 MiB (0.75x); zero1 does not fit.");
}

TEST(TorchVerdict, AStepWrittenInAnotherWay_HasABaselineOfItsOwn) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.2, 0.2}).add("ddp", 2, {0.1, 0.1});
  const std::size_t plain = synthetic.document().launches.size();
  synthetic.add("single", 1, {0.6, 0.6}).add("ddp", 2, {0.2, 0.2});
  set_option(synthetic, "read-loss", "on", plain);
  const Summary summary = summarize(as_torch(synthetic).document());
  for (const CellSummary& cell : summary.cells) {
    if (!cell.speedup) continue;
    const bool reads = cell.cell.options.contains("read-loss");
    EXPECT_NEAR(cell.speedup->center, reads ? 3.0 : 2.0, 1e-9);
  }
}

// Turns all launches into ones on pretended GPUs.
Synthetic& as_pretended(Synthetic& synthetic) {
  for (results::LaunchRecord& record : as_torch(synthetic).document().launches) {
    record.cell.backend = "pretended-a100";
    record.machine.libraries["pretended device"] = "NVIDIA A100-SXM4-80GB";
  }
  return synthetic;
}

TEST(TorchVerdict, OnPretendedGpus_IsAboutTheHostsWork) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.02, 0.02}).add("dp", 4, {0.06, 0.06}).add("ddp", 4, {0.03, 0.03});
  const VerdictText text = torch_verdict_of(as_pretended(synthetic));
  EXPECT_EQ(text.subject,
            "Pretended GPUs (NVIDIA A100-SXM4-80GB): host work measured, nothing computed; 2 cores "
            "of Test CPU");
  EXPECT_THAT(text.overall,
              StartsWith("PyTorch 2.15.0: own.py:build, batch 64 (16 per device), 4 devices: "
                         "the host's work of a step is 2.00 times as long under DataParallel "
                         "as under DistributedDataParallel ("));
  EXPECT_EQ(text.overall.find("fast"), std::string::npos) << text.overall;
}

TEST(TorchReport, OnPretendedGpus_HasNoRatesAndNoSpeedUps) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.02, 0.02}).add("dp", 4, {0.06, 0.06}).add("ddp", 4, {0.03, 0.03});
  const Report report = make_report(as_pretended(synthetic).document());
  for (const CellSummary& cell : report.summary.cells) {
    EXPECT_FALSE(cell.speedup);
    EXPECT_FALSE(cell.weak_efficiency);
  }
  const std::string text = whole_text(report);
  EXPECT_NE(text.find("pretended GPUs: host work measured, nothing computed"), std::string::npos);
  EXPECT_EQ(text.find("no baseline"), std::string::npos) << text;
  const std::string compared = to_text(comparison_table(report.summary));
  EXPECT_THAT(compared, HasSubstr("less host work (pretended)"));
  EXPECT_EQ(compared.find("fast"), std::string::npos) << compared;
  EXPECT_EQ(compared.find("speed"), std::string::npos) << compared;
}

TEST(TorchVerdict, BesideTandem_SpeaksFirst_WhereBothOfItsStrategiesMeasured) {
  Synthetic synthetic;
  synthetic.add("dp", 4, {0.18, 0.18}).add("ddp", 4, {0.1, 0.1});
  as_torch(synthetic);
  for (results::LaunchRecord& record : synthetic.document().launches) {
    record.cell.model = "mlp-small";
  }
  synthetic.add("dp", 4, {0.1, 0.1}).add("ddp", 4, {0.2, 0.2});
  const VerdictText text = torch_verdict_of(synthetic);
  EXPECT_THAT(text.overall,
              StartsWith("PyTorch 2.15.0: mlp-small, batch 64 (16 per device), 4 devices: "
                         "DistributedDataParallel is 1.80 times as fast as DataParallel ("));
  EXPECT_THAT(text.overall,
              HasSubstr(". Tandem's own: dp is faster than ddp in the one comparison"));
  EXPECT_THAT(text.overall, HasSubstr("DistributedDataParallel takes"));
  ASSERT_EQ(text.workloads.size(), 1U);
  EXPECT_THAT(text.workloads[0], HasSubstr("dp is 2.00 times as fast as ddp"));
}

TEST(TorchVerdict, BesideTandem_IsTandems_WhereOneOfItsStrategiesLacks) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.4, 0.4}).add("ddp", 2, {0.1, 0.1});
  as_torch(synthetic);
  synthetic.add("dp", 2, {0.2, 0.2}).add("ddp", 2, {0.1, 0.1});
  const VerdictText text = torch_verdict_of(synthetic);
  EXPECT_THAT(text.overall, StartsWith("ddp is faster than dp"));
}

TEST(TorchVerdict, BesideTandem_SpeaksFirst_WhereDataParallelFitsNowhere) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.4, 0.4}).add("ddp", 2, {0.1, 0.1});
  synthetic.add_without_time("dp", 2, results::Status::kSkipped, "out of memory");
  as_torch(synthetic);
  synthetic.add("dp", 2, {0.2, 0.2}).add("ddp", 2, {0.1, 0.1});
  const VerdictText text = torch_verdict_of(synthetic);
  EXPECT_THAT(text.overall,
              StartsWith("PyTorch 2.15.0: own.py:build, batch 64 (32 per device), 2 devices: "
                         "DistributedDataParallel takes 100.0 ms [100.0 .. 100.0] a step, "
                         "4.00x"));
  EXPECT_THAT(text.overall, HasSubstr("DataParallel was tried, and left no figure of such a step. "
                                      "Tandem's own: ddp is faster than dp"));
}

void expect_starts(const std::vector<std::string>& sentences,
                   const std::vector<std::string>& starts) {
  ASSERT_EQ(sentences.size(), starts.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    EXPECT_TRUE(sentences[i].starts_with("own.py:build, " + starts[i])) << sentences[i];
  }
}

TEST(TorchVerdict, OfBatchesThatAreHeld_EachHasASentence_OnTheMostDevices) {
  Synthetic synthetic;
  for (const int batch : {32, 64}) {
    synthetic.add("dp", 2, {0.18, 0.18}, batch).add("ddp", 2, {0.1, 0.1}, batch);
    synthetic.add("ddp", 8, {0.1, 0.1}, batch);
  }
  synthetic.add("dp", 4, {0.18, 0.18}, 64).add("ddp", 4, {0.1, 0.1}, 64);
  const VerdictText text = torch_verdict_of(as_torch(synthetic));
  EXPECT_THAT(text.overall,
              HasSubstr(": own.py:build, batch 64 (16 per device), 4 devices: "
                        "DistributedDataParallel is 1.80 times as fast as DataParallel ("));
  expect_starts(text.workloads,
                {"batch 32 (4 per device), 8 devices: DistributedDataParallel takes",
                 "batch 64 (8 per device), 8 devices: DistributedDataParallel takes",
                 "batch 32 (16 per device), 2 devices: DistributedDataParallel is"});
}

// A batch per device makes a batch for each count: the same workload.
TEST(TorchVerdict, OfSharesThatAreHeld_EachHasASentence_OnTheMostDevices) {
  Synthetic synthetic;
  for (const int devices : {2, 4, 8}) {
    for (const int share : {8, 16}) {
      if (devices < 8 || share == 8) synthetic.add("dp", devices, {0.18, 0.18}, devices * share);
      synthetic.add("ddp", devices, {0.1, 0.1}, devices * share);
    }
  }
  expect_starts(torch_verdict_of(as_torch(synthetic)).workloads,
                {"batch 64 (8 per device), 8 devices: DistributedDataParallel is",
                 "batch 128 (16 per device), 8 devices: DistributedDataParallel takes",
                 "batch 64 (16 per device), 4 devices: DistributedDataParallel is"});
}

TEST(TorchReport, OfTorchAlone_SaysWhatAWrapperCosts) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.1, 0.1}).add("ddp", 1, {0.12, 0.12});
  const std::string text = whole_text(make_report(as_torch(synthetic).document()));
  EXPECT_NE(text.find("What a wrapper costs on one device"), std::string::npos);
  EXPECT_EQ(text.find("Beside PyTorch"), std::string::npos);
}

}  // namespace
}  // namespace tandem::reports
