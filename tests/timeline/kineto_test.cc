// SPDX-License-Identifier: Apache-2.0
//
// kineto/ holds what torch 2.9.1's profiler recorded of two steps of DistributedDataParallel on two
// gloo ranks (three linear layers, two buckets), without operators that lie in other operators and
// without arguments.
#include "common/timeline/kineto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "common/base/error.h"
#include "common/json/parse.h"
#include "common/timeline/step_view.h"
#include "common/timeline/summary.h"
#include "common/timeline/trace_json.h"
#include "tests/timeline/samples.h"

namespace tandem::timeline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string text_of_rank(int rank) {
  std::ifstream file(TANDEM_KINETO_FOLDER "/rank" + std::to_string(rank) + ".json");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<KinetoSource> both_ranks() {
  return {{"rank0.json", text_of_rank(0)}, {"rank1.json", text_of_rank(1)}};
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

std::string refusal_of(const std::vector<KinetoSource>& sources) {
  try {
    static_cast<void>(parse_kineto(sources));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
    return error.what();
  }
  return "";
}

TEST(KinetoImport, HasTheStepsAndRanksOfTheProfiler) {
  const Trace trace = parse_kineto(both_ranks());
  const TraceSummary summary = summary_of(trace);
  ASSERT_EQ(summary.steps.size(), 2U);
  ASSERT_EQ(summary.devices.size(), 2U);
  // ProfilerStep#4 and #5 of rank 1 took 35.489 and 11.545 ms.
  EXPECT_NEAR(summary.devices[1].step.count(), (35.489196e-3 + 11.545324e-3) / 2, 1e-9);
  EXPECT_EQ(fact(trace, "transport"), "gloo");
}

TEST(KinetoImport, PhasesPartitionEachStep_AndWaitsAreWhatNoOperatorCovers) {
  const Trace trace = parse_kineto(both_ranks());
  for (const StepView& step : steps_of(trace)) {
    for (const DeviceStep& device : step.devices) {
      Nanoseconds sum{0};
      for (const Slice* phase : device.phases) sum += phase->length();
      EXPECT_EQ(sum, device.end - device.begin);
      const TimeRanges uncovered = without(device.communication, device.work);
      EXPECT_EQ(exposed_communication(device),
                length(intersection(uncovered, {{device.begin, device.end}})));
      EXPECT_GT(device.phase("forward"), Nanoseconds{0});
      EXPECT_GT(device.phase("backward"), Nanoseconds{0});
      EXPECT_GT(device.phase("update"), Nanoseconds{0});
      EXPECT_GT(device.phase("bucket_copy"), Nanoseconds{0});
    }
  }
}

// In the first step rank 0's backward was held up for 20 ms, and rank 1 waited for its bucket.
TEST(KinetoImport, TheLongestWait_IsForTheRankThatCameLate) {
  const TraceSummary summary = summary_of(parse_kineto(both_ranks()));
  ASSERT_FALSE(summary.waits.empty());
  EXPECT_EQ(summary.waits[0].rank, 1);
  EXPECT_EQ(summary.waits[0].phase, "exposed_comm");
  EXPECT_THAT(summary.waits[0].cause, HasSubstr("rank 0 device 0 came to"));
  EXPECT_GT(summary.waits[0].length, std::chrono::milliseconds(15));
}

TEST(KinetoImport, IsATrace_ThatIsWrittenAndRead) {
  const Trace trace = parse_kineto(both_ranks());
  const Trace read = parse_trace(to_json(trace), "imported.json");
  EXPECT_EQ(to_json(summary_of(read)), to_json(summary_of(trace)));
}

TEST(KinetoImport, RefusesOtherFiles_InOneLine) {
  const std::string own = text_of_rank(0);
  EXPECT_THAT(refusal_of({{"a.json", "{}"}}), HasSubstr("no file of torch's profiler"));
  EXPECT_THAT(refusal_of({{"a.json", with(own, "\"schemaVersion\": 1", "\"schemaVersion\": 7")}}),
              HasSubstr("its schemaVersion is not 1"));
  EXPECT_THAT(refusal_of({{"a.json", with(own, "distributedInfo", "distributed")}}),
              HasSubstr("it names no rank"));
  EXPECT_THAT(refusal_of({{"a.json", own.substr(0, 2000)}}), HasSubstr("a.json"));
  std::string without_steps = own;
  while (without_steps.find("ProfilerStep#") != std::string::npos) {
    without_steps = with(without_steps, "ProfilerStep#", "step ");
  }
  EXPECT_THAT(refusal_of({{"a.json", without_steps}}), HasSubstr("it has no step"));
}

TEST(KinetoImport, RefusesFilesOfTwoRuns) {
  const std::string first = text_of_rank(0);
  const std::string second = text_of_rank(1);
  EXPECT_THAT(refusal_of({{"a", first}, {"b", first}}), HasSubstr("a and b: rank 0 comes twice"));
  EXPECT_THAT(
      refusal_of({{"a", first}, {"b", with(second, "\"world_size\": 2", "\"world_size\": 4")}}),
      HasSubstr("jobs of 2 and 4 ranks"));
  EXPECT_THAT(refusal_of({{"a", first},
                          {"b", with(second, "\"baseTimeNanoseconds\": 17908",
                                     "\"baseTimeNanoseconds\": 17909")}}),
              HasSubstr("of two runs"));
}

TEST(KinetoImport, RefusesAPartOfTheRanks_AndARankBeyondThem) {
  std::string first = text_of_rank(0);
  EXPECT_THAT(refusal_of({{"a", with(first, "\"world_size\": 2", "\"world_size\": 8")}}),
              HasSubstr("a: 1 of 8 ranks: give the files of all ranks"));
  EXPECT_THAT(refusal_of({{"a", with(first, "\"rank\": 0", "\"rank\": 2")}}), HasSubstr("rank"));
}

TEST(KinetoImport, OneProcessOnOneDevice_IsSingle) {
  const std::string own = with(text_of_rank(0), "\"world_size\": 2", "\"world_size\": 1");
  EXPECT_EQ(fact(parse_kineto({{"a", own}}), "strategy"), "single");
}

// A GPU's work is what its own events say: kernels, and NCCL's kernels as collectives.
TEST(KinetoImport, OfGpus_TakesKernels_AndOneProcessWithoutARankIsDataParallel) {
  const std::string text =
      R"({"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#0", "pid": 9, "tid": 9, "ts": 0, "dur": 100, "args": {}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10, "dur": 40, "args": {"device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum", "pid": 0, "tid": 20, "ts": 30, "dur": 40, "args": {"device": 0, "stream": 20}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 1, "tid": 7, "ts": 10, "dur": 20, "args": {"device": 1, "stream": 7}}]})";
  const Trace trace = parse_kineto({{"dp.json", text}});
  const std::vector<StepView> steps = steps_of(trace);
  ASSERT_EQ(steps.size(), 1U);
  ASSERT_EQ(steps[0].devices.size(), 2U);
  EXPECT_EQ(length(steps[0].devices[0].work), Nanoseconds{40'000});
  EXPECT_EQ(length(steps[0].devices[0].communication), Nanoseconds{40'000});
  EXPECT_EQ(exposed_communication(steps[0].devices[0]), Nanoseconds{20'000});
  EXPECT_EQ(steps[0].devices[1].phase("idle"), Nanoseconds{80'000});
  EXPECT_EQ(fact(trace, "strategy"), "dp");
}

Trace simulated() {
  Trace trace = two_ranks();
  trace.facts["backend"] = "simulated";
  return trace;
}

TEST(KinetoExport, HasAFilePerRank_WithTheProfilersFields) {
  const std::vector<KinetoFile> files = to_kineto(simulated(), "trace.json");
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[1].rank, 1);
  const JsonDocument document(JsonAuthor::kPerson, files[1].text, "rank1.json");
  const JsonValue root = document.root();
  EXPECT_EQ(root.at("schemaVersion").whole(0, 9), 1);
  EXPECT_EQ(root.at("distributedInfo").at("rank").whole(0, 9), 1);
  EXPECT_EQ(root.at("distributedInfo").at("world_size").whole(0, 9), 2);
  EXPECT_THAT(files[1].text, AllOf(HasSubstr("\"cat\":\"kernel\""), HasSubstr("ncclDevKernel_"),
                                   HasSubstr("\"stream\":7"), HasSubstr("\"correlation\":1")));
}

TEST(KinetoExport, OfSimulatedDevices_SaysSoInTheNames) {
  Trace trace = simulated();
  trace.facts["hardware"] = "dgx-a100";
  const std::string text = to_kineto(trace, "trace.json").front().text;
  EXPECT_THAT(text, AllOf(HasSubstr(R"x("name":"GPU 0 (simulated)")x"),
                          HasSubstr(R"x("name":"dgx-a100 (simulated)")x")));
}

// Where a GPU told of its kernels, these are what it ran: operations and collectives hold them.
TEST(KinetoExport, OfGpus_HasTheirKernelsAndCopies_ByTheProfilersNames) {
  Trace trace = two_ranks();
  trace.facts["backend"] = "cuda";
  Track& compute = trace.processes[0].tracks[0];
  compute.slices.push_back(slice(SliceKind::kKernel, "gemm_kernel", 2, 9));
  compute.slices.push_back(slice(SliceKind::kMemory, "copy from host", 10, 12));
  compute.slices.push_back(slice(SliceKind::kMemory, "set", 12, 13));
  const std::string text = to_kineto(trace, "trace.json").front().text;
  EXPECT_THAT(text, AllOf(HasSubstr(R"("cat":"kernel","name":"gemm_kernel")"),
                          HasSubstr(R"("cat":"gpu_memcpy","name":"Memcpy HtoD")"),
                          HasSubstr(R"("cat":"gpu_memset","name":"Memset")"),
                          Not(HasSubstr("forward_work")), Not(HasSubstr("(simulated)"))));
  EXPECT_THAT(text, Not(HasSubstr("ncclDevKernel")));
}

// What is exported and imported again shows the same communication and the same work.
TEST(KinetoExport, KeepsWorkAndCommunication) {
  const Trace trace = simulated();
  std::vector<KinetoSource> sources;
  for (const KinetoFile& file : to_kineto(trace, "trace.json")) {
    std::string text = file.text;
    for (std::size_t at = text.find("\"step "); at != std::string::npos;
         at = text.find("\"step ")) {
      text.replace(at, 6, "\"ProfilerStep#");
    }
    sources.push_back({"rank" + std::to_string(file.rank), text});
  }
  const std::vector<StepView> before = steps_of(trace);
  const std::vector<StepView> after = steps_of(parse_kineto(sources));
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t step = 0; step < before.size(); ++step) {
    ASSERT_EQ(before[step].devices.size(), after[step].devices.size());
    for (std::size_t device = 0; device < before[step].devices.size(); ++device) {
      const DeviceStep& was = before[step].devices[device];
      const DeviceStep& is = after[step].devices[device];
      EXPECT_EQ(length(is.communication), length(was.communication));
      EXPECT_EQ(length(is.work), length(was.work));
    }
  }
}

TEST(KinetoExport, OfATraceWithoutKernels_IsRefused) {
  try {
    static_cast<void>(to_kineto(two_ranks(), "trace.json"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("trace.json: "), HasSubstr("no GPU kernels")));
  }
}

}  // namespace
}  // namespace tandem::timeline
