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

// step_command.cc reads what is about the command and not about a step.
TEST(StepOptions, EveryEntryOfTheTable_IsReadByAnOwner) {
  Values values = values_of("ddp");
  values.give("devices", "2");
  for (const char* const name :
       {"device-ids", "output-device", "bucket-mb", "first-bucket-mb", "fault"}) {
    const options::Option& option = *options::find_option(name);
    values.give(option, std::string(option.example));
  }
  const StepOptions step = step_options(values);
  static_cast<void>(sampling_options(values, step));
  static_cast<void>(trace_options(values, step));
  static_cast<void>(calibration_options(values, step));
  EXPECT_EQ(values.unread(),
            (std::vector<std::string>{"run", "ab", "pairs", "check", "flight-dir"}));
  values = values_of("ddp");
  values.give("ab", "grads=views");
  EXPECT_EQ(pair_options(values).change, "grads=views");
}

TEST(StepOptions, EveryChoice_IsKnownToItsOwner) {
  for (const options::Option& option : options::kOptions) {
    if (option.value.form != options::Form::kChoice) continue;
    for (const std::string_view choice : options::choices_of(option)) {
      Values values = values_of("single");
      values.give(option, std::string(choice));
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
  EXPECT_TRUE(with("conv-fp32", "on").variant.training.images.fp32_factors);
  EXPECT_TRUE(with("channels-last", "on").variant.training.images.channels_last);
  EXPECT_EQ(with("phases", "off").variant.training.phases.timing, PhaseTiming::kOff);
  EXPECT_EQ(with("threads", "kept").variant.dp.threads, dp::Threads::kKept);
  EXPECT_EQ(with("replicate", "flat").variant.dp.replicate, dp::Grouping::kFlat);
  EXPECT_EQ(with("broadcast", "tree").variant.dp.broadcast, dp::Order::kTree);
  EXPECT_EQ(with("reduce", "collective").variant.dp.reduce, dp::Order::kCollective);
  EXPECT_EQ(with("loss", "replicas").variant.dp.loss, dp::LossPlace::kReplicas);
  EXPECT_EQ(with("grads", "views").variant.reducer.grads, ddp::GradsMode::kViews);
  EXPECT_EQ(with("overlap", "off").variant.reducer.overlap, ddp::Overlap::kOff);
  EXPECT_EQ(with("comm-priority", "high").variant.reducer.priority, StreamPriority::kHigh);
  EXPECT_EQ(with("static-graph", "on").variant.reducer.graph, ddp::Graph::kStatic);
  EXPECT_EQ(with("compress", "fp16").variant.reducer.compression, ddp::Compression::kFloat16);
  EXPECT_EQ(with("comm", "mpi").job.transport, Transport::kMpi);
  EXPECT_EQ(with("backend", "cuda").job.backend, BackendChoice::kCuda);
  EXPECT_EQ(with("p2p", "off").job.platform.peer_access, PeerAccess::kOff);
  EXPECT_EQ(with("bind", "none").job.platform.binding, Binding::kNone);
  EXPECT_EQ(with("gpu-wait", "park").job.platform.gpu_wait, GpuWait::kPark);
}

// Programs and tests that build options without a command line get what the table says.
TEST(StepOptions, DefaultsOfTheStructs_AreThoseOfTheTable) {
  const StepOptions table = step_options(values_of("ddp"));
  const StepOptions built;
  EXPECT_EQ(table.model, built.model);
  EXPECT_EQ(table.free_running, built.free_running);
  const SamplingOptions sampling = sampling_options(values_of("ddp"), table);
  EXPECT_EQ(sampling.min_time, SamplingOptions().min_time);
  EXPECT_EQ(sampling.min_samples, SamplingOptions().min_samples);
  EXPECT_EQ(table.warmup_time, built.warmup_time);
  EXPECT_EQ(table.warmup_steps, built.warmup_steps);
  EXPECT_EQ(table.job.devices, built.job.devices);
  EXPECT_EQ(table.job.backend, built.job.backend);
  EXPECT_EQ(table.job.transport, built.job.transport);
  EXPECT_EQ(table.job.platform.peer_access, built.job.platform.peer_access);
  EXPECT_EQ(table.job.platform.binding, built.job.platform.binding);
  EXPECT_EQ(table.job.platform.gpu_wait, built.job.platform.gpu_wait);
}

// GPUs' clocks climb for a second or two; a time that was asked for is all that is waited for.
TEST(StepOptions, WarmUp_IsLongerOnGpus_UntilTheyAreSteady_UnlessItsTimeIsGiven) {
  const auto steady = [] { return true; };
  const StepOptions usual;
  EXPECT_EQ(warmup_limits(usual, Backend::kHost, steady).time, std::chrono::milliseconds(200));
  EXPECT_FALSE(warmup_limits(usual, Backend::kHost, steady).is_steady);
  EXPECT_EQ(warmup_limits(usual, Backend::kCuda, steady).time, std::chrono::seconds(2));
  EXPECT_TRUE(warmup_limits(usual, Backend::kCuda, steady).is_steady);
  EXPECT_GT(warmup_limits(usual, Backend::kCuda, steady).cap, std::chrono::seconds(2));
  EXPECT_EQ(brief_warmup(usual).time, std::chrono::milliseconds(200));
  StepOptions given;
  given.warmup_time = std::chrono::seconds(1);
  EXPECT_EQ(warmup_limits(given, Backend::kCuda, steady).time, std::chrono::seconds(1));
  EXPECT_FALSE(warmup_limits(given, Backend::kCuda, steady).is_steady);
}

TEST(StepOptions, DefaultsOfAVariant_AreThoseOfTheTable) {
  const TrainingOptions training = step_options(values_of("ddp")).variant.training;
  EXPECT_EQ(training.seed, TrainingOptions().seed);
  EXPECT_EQ(training.optimizer.kind, OptimizerOptions().kind);
  EXPECT_EQ(training.precision, TrainingOptions().precision);
  EXPECT_EQ(training.input, TrainingOptions().input);
  EXPECT_EQ(training.phases.timing, PhaseOptions().timing);

  const dp::DataParallelOptions dp = step_options(values_of("dp")).variant.dp;
  const dp::DataParallelOptions built_dp;
  EXPECT_EQ(dp.device_ids, built_dp.device_ids);
  EXPECT_EQ(dp.output_device, built_dp.output_device);
  EXPECT_EQ(dp.threads, built_dp.threads);
  EXPECT_EQ(dp.replicate, built_dp.replicate);
  EXPECT_EQ(dp.broadcast, built_dp.broadcast);
  EXPECT_EQ(dp.loss, built_dp.loss);
  EXPECT_EQ(dp.reduce, built_dp.reduce);

  const ddp::ReducerOptions reducer = step_options(values_of("ddp")).variant.reducer;
  const ddp::ReducerOptions built;
  EXPECT_EQ(reducer.grads, built.grads);
  EXPECT_EQ(reducer.overlap, built.overlap);
  EXPECT_EQ(reducer.graph, built.graph);
  EXPECT_EQ(reducer.buckets.first, built.buckets.first);
  EXPECT_EQ(reducer.buckets.rest, built.buckets.rest);
  EXPECT_EQ(reducer.micro_batches, built.micro_batches);
  EXPECT_EQ(reducer.compression, built.compression);
}

TEST(StepOptions, ATimeout_IsDividedIntoPatienceAndGrace) {
  Values values = values_of("ddp");
  values.give("comm-timeout", "8s");
  const StepOptions options = step_options(values);
  EXPECT_EQ(options.job.communicator.deadline, std::chrono::seconds(6));
  EXPECT_EQ(options.job.communicator.rank_exit.grace, std::chrono::seconds(1));
}

}  // namespace
}  // namespace tandem::bench
