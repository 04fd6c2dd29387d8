// SPDX-License-Identifier: Apache-2.0
//
// The table of options against its owners: every entry is read by one, and every choice means
// something.
#include "bench/step/step_options.h"

#include <gtest/gtest.h>

namespace tandem::bench {
namespace {

using options::Values;

Values values_of(std::string_view strategy) {
  Values values;
  values.give("strategy", std::string(strategy));
  values.give("batch", "8");
  return values;
}

// step_command.cc itself prints the list of models.
TEST(StepOptions, EveryEntryOfTheTable_IsReadByAnOwner) {
  Values values = values_of("ddp");
  values.give("devices", "2");
  for (const char* const name : {"device-ids", "output-device", "bucket-mb", "first-bucket-mb",
                                 "fusion-mb", "link", "check", "fault"}) {
    const options::Option& option = *options::find_option(name);
    values.give(option, std::string(option.example));
  }
  static_cast<void>(step_options(values));
  EXPECT_EQ(values.unread(), std::vector<std::string>{"models"});
}

TEST(StepOptions, EveryChoice_IsKnownToItsOwner) {
  for (const options::Option& option : options::kOptions) {
    if (option.value.form != options::Form::kChoice || option.name == "cuda-graph") continue;
    for (const std::string_view choice : options::choices_of(option)) {
      Values values = values_of("single");
      values.give(option, choice.ends_with(":RANK") ? "powersgd:4" : std::string(choice));
      EXPECT_NO_THROW(static_cast<void>(step_options(values))) << option.name << '=' << choice;
    }
  }
}

// Choices are matched by their place in the table.
TEST(StepOptions, Choices_MeanWhatTheyAreCalled) {
  const auto with = [](options::Name name, const char* text) {
    Values values = values_of("single");
    values.give(name, text);
    return step_options(values);
  };
  EXPECT_EQ(with("input", "pageable").variant.training.input, InputPlace::kPageable);
  EXPECT_EQ(with("input", "scatter").variant.shards, ddp::Shards::kScattered);
  EXPECT_EQ(with("optimizer", "adamw").variant.training.optimizer.kind, OptimizerKind::kAdamW);
  EXPECT_EQ(with("precision", "tf32").variant.training.precision, Precision::kTf32);
  EXPECT_EQ(with("phases", "off").variant.training.phases.timing, PhaseTiming::kOff);
  EXPECT_EQ(with("threads", "kept").variant.dp.threads, dp::Threads::kKept);
  EXPECT_EQ(with("replicate", "flat").variant.dp.replicate, dp::Grouping::kFlat);
  EXPECT_EQ(with("broadcast", "tree").variant.dp.broadcast, dp::Order::kTree);
  EXPECT_EQ(with("reduce", "collective").variant.dp.reduce, dp::Order::kCollective);
  EXPECT_EQ(with("loss", "replicas").variant.dp.loss, dp::LossPlace::kReplicas);
  EXPECT_EQ(with("grads", "views").variant.reducer.grads, ddp::GradsMode::kViews);
  EXPECT_EQ(with("overlap", "off").variant.reducer.overlap, ddp::Overlap::kOff);
  EXPECT_EQ(with("static-graph", "on").variant.reducer.graph, ddp::Graph::kStatic);
  EXPECT_EQ(with("join", "active").variant.reducer.join, ddp::Join::kActive);
  EXPECT_EQ(with("reducer", "horovod").variant.reducer.kind, ddp::ReducerKind::kHorovod);
  EXPECT_EQ(with("compress", "fp16").variant.reducer.compression.compression,
            ddp::Compression::kFloat16);
  EXPECT_EQ(with("compress", "powersgd:4").variant.reducer.compression.power_sgd.rank, 4);
  EXPECT_EQ(with("comm", "gloo").job.transport, Transport::kGloo);
  EXPECT_EQ(with("backend", "cuda").job.backend, BackendChoice::kCuda);
  EXPECT_EQ(with("p2p", "off").job.platform.peer_access, PeerAccess::kOff);
  EXPECT_EQ(with("bind", "none").job.platform.binding, Binding::kNone);
  EXPECT_EQ(with("check", "model").check, Check::kModel);
}

TEST(StepOptions, ATimeout_IsDividedIntoPatienceAndGrace) {
  Values values = values_of("ddp");
  values.give("comm-timeout", "8s");
  const StepOptions options = step_options(values);
  EXPECT_EQ(options.job.communicator.deadline, std::chrono::seconds(6));
  EXPECT_EQ(options.job.communicator.rank_exit.grace, std::chrono::seconds(1));
  EXPECT_EQ(options.variant.dp.deadline, std::chrono::seconds(6));
  EXPECT_EQ(options.variant.reducer.horovod.deadline, std::chrono::seconds(6));
}

}  // namespace
}  // namespace tandem::bench
