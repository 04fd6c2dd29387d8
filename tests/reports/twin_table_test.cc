// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "reports/answer/verdict.h"
#include "reports/model/notes.h"
#include "reports/model/subject.h"
#include "reports/tables/torch.h"
#include "tests/reports/synthetic.h"

namespace tandem::reports {
namespace {

// What is added after this is torch's.
void as_torch(Synthetic& synthetic, std::size_t from) {
  auto& launches = synthetic.document().launches;
  for (std::size_t i = from; i < launches.size(); ++i) {
    launches[i].cell.options[kImplementation] = "torch-9.9.9";
    launches[i].machine.libraries["torch"] = "9.9.9";
  }
}

// Ours: 80 ms alone, 100 ms wrapped on one device, 50 ms on two; torch's 120, 180 and 90 ms.
Synthetic both_twins() {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.08, 0.08}).add("ddp", 1, {0.1, 0.1}).add("ddp", 2, {0.05, 0.05});
  synthetic.document().launches.front().machine.libraries["kernels"] = "ours";
  const std::size_t ours = synthetic.document().launches.size();
  synthetic.add("single", 1, {0.12, 0.12}).add("ddp", 1, {0.18, 0.18}).add("ddp", 2, {0.09, 0.09});
  as_torch(synthetic, ours);
  return synthetic;
}

TEST(Twins, AreTheSameCellOfBothSides) {
  Synthetic synthetic = both_twins();
  const Summary summary = summarize(synthetic.document());
  const std::vector<StepRatio> twins = twins_of(summary);
  ASSERT_EQ(twins.size(), 3U);
  for (const StepRatio& pair : twins) {
    EXPECT_EQ(own_cell(pair.of->cell), pair.over->cell);
    const double expected = pair.over->cell.devices == 2        ? 1.8
                            : pair.over->cell.strategy == "ddp" ? 1.8
                                                                : 1.5;
    EXPECT_NEAR(pair.ratio.center, expected, 1e-12);
  }
}

TEST(TwinNote, NamesWhatIsNotTheSame_OfTheCellsThatAreThere) {
  Synthetic synthetic = both_twins();
  EXPECT_EQ(twin_note(summarize(synthetic.document())).find("gloo"), std::string::npos);
  synthetic.document().launches.back().resolved["process group"] = "gloo";
  const std::string note = twin_note(summarize(synthetic.document()));
  EXPECT_NE(note.find("gloo, over TCP, for torch"), std::string::npos);
  EXPECT_NE(note.find("copies it into the device's memory"), std::string::npos);
  for (auto& launch : synthetic.document().launches) launch.cell.backend = "cuda";
  for (auto& launch : synthetic.document().launches) launch.resolved.clear();
  EXPECT_EQ(twin_note(summarize(synthetic.document())), kTwin.hint);
}

// Against the cell of Tandem's that lacks the fused kernel, and no other.
TEST(Twins, WhereTandemsAttentionIsNotFused_CarryAMark) {
  Synthetic synthetic = both_twins();
  synthetic.document().launches.front().resolved["attention"] = "cuDNN 9.19.0, fused";
  EXPECT_EQ(to_text(twin_table(summarize(synthetic.document()))).find("(attention)"),
            std::string::npos);
  synthetic.document().launches.front().resolved["attention"] =
      "products and softmax, since cuDNN's fused engines take 16-bit types only";
  const Summary summary = summarize(synthetic.document());
  EXPECT_NE(twin_note(summary).find("one fused kernel computes for torch"), std::string::npos);
  const TextTable table = twin_table(summary);
  const std::string text = to_text(table);
  EXPECT_EQ(text.find("(attention)"), text.rfind("(attention)"));
  EXPECT_NE(text.find("(attention)"), std::string::npos);
  EXPECT_EQ(marks_of(summary.cells.front()), std::vector<std::string>{"attention not fused"});
}

TEST(Twins, WhoseMatrixLibraryIsSlowHere_HaveTheRatioPerFlops) {
  Synthetic synthetic = both_twins();
  auto& launches = synthetic.document().launches;
  const auto say = [&](const std::string& rates) {
    for (std::size_t i = launches.size() / 2; i < launches.size(); ++i) {
      launches[i].resolved["linear layers"] = rates;
    }
  };
  say("101.0 GFLOP/s, 150.0 at best");
  EXPECT_EQ(to_text(twin_table(summarize(synthetic.document()))).find("per FLOP/s"),
            std::string::npos);
  say("75.0 GFLOP/s, 150.0 at best");
  const Summary summary = summarize(synthetic.document());
  const std::string text = to_text(twin_table(summary));
  EXPECT_NE(text.find("1.50x [1.50 .. 1.50] (0.75x per FLOP/s)"), std::string::npos) << text;
  EXPECT_EQ(text.find("0.75x per FLOP/s"), text.rfind("0.75x per FLOP/s")) << text;  // no wrapper's
  EXPECT_NE(twin_note(summary).find("reach 75 GFLOP/s on a core here, oneDNN's 150"),
            std::string::npos);
}

TEST(Twins, OfFp32WithConvolutionsInTf32_CarryAMark) {
  Synthetic synthetic = both_twins();
  auto& by = synthetic.document().launches.front().resolved["convolutions"];
  synthetic.document().launches.front().peak_gflops = 10;
  by = "cuDNN 9.19.0, channels first, fp32";
  const CellSummary fp32 = summarize(synthetic.document()).cells.front();
  EXPECT_TRUE(marks_of(fp32).empty());
  EXPECT_EQ(fp32.peak_gflops, 10);
  by = "cuDNN 9.19.0, channels first, tf32";
  const CellSummary tf32 = summarize(synthetic.document()).cells.front();
  EXPECT_EQ(marks_of(tf32), std::vector<std::string>{"tf32 convolutions"});
  EXPECT_EQ(tf32.peak_gflops, 0);  // which is of fp32
}

TEST(Twins, WithoutTheirCounterpart_AreNone) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.08}).add("ddp", 2, {0.05});
  as_torch(synthetic, 1);
  const Summary summary = summarize(synthetic.document());
  EXPECT_TRUE(twins_of(summary).empty());
}

TEST(WrapperCosts, AreOverSingleOfTheSameImplementation) {
  Synthetic synthetic = both_twins();
  const Summary summary = summarize(synthetic.document());
  const std::vector<StepRatio> costs = wrapper_costs(summary);
  ASSERT_EQ(costs.size(), 2U);
  for (const StepRatio& cost : costs) {
    const bool is_own = implementation_of(cost.of->cell).empty();
    EXPECT_EQ(implementation_of(cost.over->cell), implementation_of(cost.of->cell));
    EXPECT_NEAR(cost.ratio.center, is_own ? 1.25 : 1.5, 1e-12);
  }
}

TEST(TwinTable, WithoutAnotherImplementation_HasNoRows) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.08, 0.08}).add("ddp", 1, {0.1, 0.1});
  EXPECT_TRUE(twin_table(summarize(synthetic.document())).rows.empty());
}

TEST(Summary, SpeedupsAreOverSingleOfTheSameImplementation) {
  Synthetic synthetic = both_twins();
  for (const CellSummary& cell : summarize(synthetic.document()).cells) {
    if (cell.cell.strategy != "ddp" || cell.cell.devices != 2) continue;
    const bool is_own = implementation_of(cell.cell).empty();
    ASSERT_TRUE(cell.speedup);
    EXPECT_NEAR(cell.speedup->center, is_own ? 1.6 : 0.12 / 0.09, 1e-12);
  }
}

TEST(Verdict, ComparesDpAndDdpOfOneImplementation) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.06, 0.06}).add("ddp", 2, {0.05, 0.05});
  synthetic.add("dp", 2, {0.1, 0.1}).add("ddp", 2, {0.2, 0.2});
  as_torch(synthetic, 4);
  const Summary summary = summarize(synthetic.document());
  ASSERT_EQ(summary.comparisons.size(), 2U);
  const VerdictText text = verdict(synthetic.document(), summary);
  EXPECT_EQ(text.overall.find("PyTorch 9.9.9: mlp-small, batch 64 (32 per device), 2 devices: "
                              "DataParallel is 2.00 times as fast"),
            0U)
      << text.overall;
  EXPECT_NE(text.overall.find("Tandem's own: ddp is faster than dp in the one comparison"),
            std::string::npos)
      << text.overall;
}

TEST(MachineOf, HasOurFacts_AndTheLibrariesOfBoth) {
  Synthetic synthetic = both_twins();
  const auto libraries = machine_of(synthetic.document()).libraries;
  EXPECT_EQ(libraries.at("kernels"), "ours");
  EXPECT_EQ(libraries.at("torch"), "9.9.9");
}

TEST(StrategyLabel, BeginsWithTheImplementation) {
  Synthetic synthetic;
  synthetic.add("ddp", 2, {0.05});
  results::Cell cell = synthetic.document().launches.front().cell;
  cell.options = {{"grads", "views"}, {kImplementation, "torch-9.9.9"}};
  EXPECT_EQ(strategy_label(cell), "torch-9.9.9 ddp, grads=views");
}

}  // namespace
}  // namespace tandem::reports
