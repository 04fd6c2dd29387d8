// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/trace/gpu_activity.h"
#include "common/trace/kernel_name.h"

namespace tandem {
namespace {

using timeline::Slice;
using timeline::SliceKind;
using What = TimelineMark::What;

// A device's marks, numbered as they are made.
class Marks {
 public:
  Marks& add(What what, int at, const std::string& name = "", std::size_t stream = 0) {
    const SliceKind kind = name == "collective" ? SliceKind::kCollective : SliceKind::kOperation;
    marks_.push_back({.what = what,
                      .stream = stream,
                      .at = Nanoseconds{at},
                      .kind = kind,
                      .name = name,
                      .number = marks_.size() + 1});
    return *this;
  }
  // Behind the latest mark.
  Marks& ran(const std::string& name, int begin, int end, std::size_t stream = 0) {
    return ran_behind(marks_.size(), name, begin, end, stream);
  }
  Marks& ran_behind(std::uint64_t number, const std::string& name, int begin, int end,
                    std::size_t stream = 0) {
    work_.push_back({{.what = What::kGpuRan,
                      .stream = stream,
                      .at = Nanoseconds{begin},
                      .kind = SliceKind::kKernel,
                      .name = name,
                      .end = Nanoseconds{end}},
                     number});
    return *this;
  }

  [[nodiscard]] MarksWithWork placed() const { return with_gpu_work(marks_, work_); }

  // "name begin-end step" of each slice, by track.
  [[nodiscard]] std::vector<std::string> texts() const {
    std::vector<std::string> tracks;
    for (const timeline::Track& track : timeline_of(0, placed().marks).tracks) {
      std::string text = track.name + ": ";
      for (const Slice& one : track.slices) {
        text +=
            fmt::format("{} {}-{} {}; ", one.name, one.begin.count(), one.end.count(), one.step);
      }
      tracks.push_back(text);
    }
    return tracks;
  }

 private:
  std::vector<TimelineMark> marks_;
  std::vector<GpuWork> work_;
};

using Texts = std::vector<std::string>;

TEST(GpuWork, KernelsAreInTheOperationsThatEnqueuedThem) {
  Marks marks;
  marks.add(What::kPhaseBegins, 0, "forward").add(What::kWorkBegins, 10, "linear");
  marks.ran("gemm", 12, 18).ran("bias", 18, 19);
  marks.add(What::kWorkEnds, 20).add(What::kWorkBegins, 20, "relu").ran("max", 22, 29);
  marks.add(What::kWorkEnds, 30).add(What::kStepEnds, 40);
  EXPECT_EQ(marks.texts(),
            Texts{"compute: step 0-40 1; forward 0-40 1; linear 10-20 1; gemm 12-18 1; "
                  "bias 18-19 1; relu 20-30 1; max 22-29 1; "});
  EXPECT_EQ(marks.placed().moved, Nanoseconds{0});
}

TEST(GpuWork, AClockThatIsOff_MovesAllMarksAlike) {
  Marks marks;  // 100 early
  marks.add(What::kPhaseBegins, 0, "forward").add(What::kWorkBegins, 10, "linear");
  marks.ran("gemm", 112, 118);
  marks.add(What::kWorkEnds, 20).add(What::kStepEnds, 40);
  EXPECT_EQ(marks.texts(),
            Texts{"compute: step 98-138 1; forward 98-138 1; linear 108-118 1; gemm 112-118 1; "});
  EXPECT_EQ(marks.placed().moved, Nanoseconds{98});
}

TEST(GpuWork, AClockThatDrifts_MovesEachMarkToBetweenItsKernels) {
  Marks marks;
  marks.add(What::kPhaseBegins, 0, "forward").add(What::kWorkBegins, 0, "early");
  marks.ran("a", 20, 30);  // its end allows no less than 10, the last one's begin no more than -10
  marks.add(What::kWorkEnds, 20).add(What::kWorkBegins, 100, "late").ran("b", 90, 95);
  marks.add(What::kWorkEnds, 110).add(What::kStepEnds, 120);
  EXPECT_EQ(marks.texts(), Texts{"compute: step 0-120 1; forward 0-120 1; early 0-30 1; a 20-30 1; "
                                 "late 90-110 1; b 90-95 1; "});
  EXPECT_EQ(marks.placed().moved, Nanoseconds{10});
}

TEST(GpuWork, WhatNobodyMarked_GoesIntoTheCollectiveOfItsTime) {
  Marks marks;
  marks.add(What::kPhaseBegins, 0, "backward");
  for (const int at : {10, 50}) {
    marks.add(What::kWorkBegins, at, "collective", 1).add(What::kWorkEnds, at + 30, "", 1);
  }
  marks.add(What::kStepEnds, 100);
  marks.ran_behind(0, "first", 8, 38, 1).ran_behind(0, "second", 52, 82, 1);
  marks.ran_behind(0, "of no step", 200, 210, 1).ran_behind(0, "elsewhere", 20, 30, 2);
  EXPECT_EQ(marks.texts(), (Texts{"compute: step 0-100 1; backward 0-100 1; ",
                                  "comm: collective 8-40 1; first 8-38 1; collective 50-82 1; "
                                  "second 52-82 1; ",
                                  "other: elsewhere 20-30 1; "}));
}

TEST(GpuWork, WorkOfAnotherStreamsMark_IsBetweenItsOwnStreams) {
  Marks marks;
  marks.add(What::kPhaseBegins, 0, "input").add(What::kWorkBegins, 10, "copy", 1);
  marks.add(What::kBucketReady, 12);
  marks.ran("copy on device", 15, 30, 1);  // behind the mark on compute
  marks.add(What::kWorkEnds, 30, "", 1).add(What::kStepEnds, 60);
  EXPECT_EQ(marks.texts().at(1), "copies: copy 10-30 1; copy on device 15-30 1; ");
}

TEST(GpuWork, ParallelKernels_AreBesideEachOther) {
  Marks marks;
  marks.add(What::kPhaseBegins, 0, "forward").ran("a", 10, 50).ran("b", 20, 40).ran("c", 30, 60);
  marks.ran("d", 60, 70).add(What::kStepEnds, 80);
  EXPECT_EQ(marks.texts(), (Texts{"compute: step 0-80 1; forward 0-80 1; a 10-50 1; d 60-70 1; ",
                                  "compute beside: b 20-40 1; ", "compute beside 2: c 30-60 1; "}));
}

TEST(GpuWork, KernelsBetweenOperations_PartNoLayer) {
  Marks marks;
  marks.add(What::kPhaseBegins, 0, "forward").add(What::kWorkBegins, 10, "a").ran("k", 11, 12);
  marks.add(What::kWorkEnds, 20).add(What::kWorkBegins, 30, "b").ran("k", 31, 32);
  marks.add(What::kWorkEnds, 40).add(What::kStepEnds, 50);
  std::vector<TimelineMark> all = marks.placed().marks;
  for (TimelineMark& one : all) {
    if (one.what == What::kWorkBegins) one.layer = "layer0";
  }
  std::vector<std::string> layers;
  const timeline::Process device = timeline_of(0, all);
  for (const Slice& one : device.tracks.at(0).slices) {
    if (one.kind == SliceKind::kLayer) {
      layers.push_back(fmt::format("{}-{}", one.begin.count(), one.end.count()));
    }
  }
  EXPECT_EQ(layers, Texts{"10-40"});
}

TEST(GpuWork, OfAnAbandonedStep_NothingIsLeft) {
  Marks marks;
  marks.add(What::kPhaseBegins, 10, "forward").ran("lost", 12, 14).add(What::kStepAbandoned, 0);
  marks.add(What::kPhaseBegins, 40, "forward").ran("kept", 42, 44).add(What::kStepEnds, 50);
  EXPECT_EQ(marks.texts(), Texts{"compute: step 40-50 1; forward 40-50 1; kept 42-44 1; "});
}

TEST(KernelName, IsWithoutTypeAndParameters) {
  EXPECT_EQ(kernel_name("_Z4axpyfPf"), "axpy");
  EXPECT_EQ(kernel_name("_ZN6tandem12_GLOBAL__N_15scaleIfEEvPT_f"), "tandem::scale<float>");
  EXPECT_EQ(
      kernel_name("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
      "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  EXPECT_EQ(kernel_name("sm90_xmma_gemm_f32f32"), "sm90_xmma_gemm_f32f32");
  EXPECT_EQ(kernel_name("_ZN12cutlass__5x_6KernelINS_4conv6kernelE"), "cutlass__5x_::Kernel<...>");
  EXPECT_EQ(kernel_name("_ZN99short"), "_ZN99short");
  EXPECT_EQ(kernel_name("na\xff"
                        "me\n"),
            "na?me?");
  EXPECT_EQ(kernel_name(""), "kernel");
}

TEST(KernelName, WhatIsTooLong_KeepsItsArgumentsWhereNamespacesAreWhatIsTooMuch) {
  EXPECT_EQ(kernel_name("_ZN6tandem4cuda44_GLOBAL__N__d9a12611_11_for_each_cu_b06e57cc9visit_all"
                        "ILi4ENS0_24BatchNormForwardElementsINS_8BFloat16EEEEEvlT0_"),
            "visit_all<4, BatchNormForwardElements<BFloat16> >");
}

TEST(KernelName, WhatIsTooLong_LosesArgumentsThenNamespacesThenItsEnd) {
  const std::string deep(70, 'd');
  EXPECT_EQ(kernel_name("void a::b<" + deep + "<int>, 3>(int)"), "a::b<...>");
  EXPECT_EQ(kernel_name("void " + deep + "::" + deep + "::name<" + deep + deep + ">(float*)"),
            "name<...>");
  EXPECT_EQ(kernel_name(deep + deep), deep + "ddddddd...");
}

}  // namespace
}  // namespace tandem
