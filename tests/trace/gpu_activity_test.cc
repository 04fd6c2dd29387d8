// SPDX-License-Identifier: Apache-2.0
//
// Where what GPUs ran goes, on streams that only have names, and a stand-in for CUPTI's library.
#include "common/trace/gpu_activity.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/trace/stand_in_cupti.h"

namespace tandem {
namespace {

// A stream of a CUDA device on a GPU; the test alone knows which cudaStream_t the stream is.
class NamedStream final : public Stream {
 public:
  NamedStream(int device, int gpu) : gpu_(gpu), device_{Backend::kCuda, device} {}

  [[nodiscard]] int gpu() const { return gpu_; }
  [[nodiscard]] DeviceId device() const override { return device_; }
  void record(Event&) override {}
  void wait(const Event&) override {}
  void start_after(TimePoint) override {}
  void delay(Nanoseconds) override {}
  void synchronize() override {}
  [[nodiscard]] bool is_done() override { return true; }
  void copy_bytes(ByteSpan, ConstByteSpan) override {}
  void zero_bytes(ByteSpan) override {}

 private:
  const int gpu_;
  const DeviceId device_;
};

constexpr CudaProfiling kCuda{
    .start = [] {},
    .stop = [] {},
    .native_stream = [](Stream& stream) { return static_cast<void*>(&stream); },
    .gpu = [](Stream& stream) { return static_cast<NamedStream&>(stream).gpu(); },
};

class GpuActivityTest : public testing::Test {
 protected:
  template <class Function>
  Function* find(const char* name) {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }

  void run(const char* kernel, int gpu, void* stream) {
    StandInWork work{.function = kernel, .gpu = gpu, .stream = stream, .correlation = call_()};
    work.begin = now_();
    work.end = work.begin + 1;
    ran_(&work);
  }

  // "device.stream kernel behind" of each.
  std::string texts() {
    std::string text;
    for (const auto& [device, all] : activity_.end().work) {
      for (const GpuWork& one : all) {
        text += fmt::format("{}.{} {} {}; ", device, one.ran.stream, one.ran.name, one.behind);
      }
    }
    return text;
  }

  void* const library_ = dlopen(TANDEM_STAND_IN_CUPTI, RTLD_NOW | RTLD_LOCAL);
  StandInCuptiCall* const call_ = find<StandInCuptiCall>("stand_in_cupti_call");
  StandInCuptiRan* const ran_ = find<StandInCuptiRan>("stand_in_cupti_ran");
  StandInCuptiNow* const now_ = find<StandInCuptiNow>("stand_in_cupti_now");
  GpuActivity activity_{{TANDEM_STAND_IN_CUPTI}, &kCuda};
};

TEST_F(GpuActivityTest, WhatRan_IsOnTheDeviceAndStreamOfItsMarks) {
  NamedStream compute(0, 0);
  NamedStream comm(0, 0);
  NamedStream other(1, 0);  // two devices on a GPU
  activity_.begin();
  activity_.know(compute, 0);
  activity_.know(comm, 1);
  activity_.know(other, 0);
  EXPECT_EQ(activity_.mark(0), 1U);
  run("gemm", 0, &compute);
  EXPECT_EQ(activity_.mark(1), 2U);
  run("gemm", 0, &other);
  run("nccl", 0, &comm);
  EXPECT_EQ(texts(), "0.0 gemm 1; 0.1 nccl 2; 1.0 gemm 2; ");
}

TEST_F(GpuActivityTest, StreamsThatNobodyMarked_AreOfTheMarksDevice_OnTheRecordsGpu) {
  NamedStream first(0, 0);
  NamedStream second(1, 0);
  NamedStream third(2, 1);
  activity_.begin();
  for (NamedStream* const one : {&first, &second, &third}) activity_.know(*one, 0);
  static_cast<void>(activity_.mark(1));
  run("hidden", 0, this);
  run("hidden", 0, library_);
  run("on_another_gpu", 1, this);
  run("nobodys", 7, this);
  EXPECT_EQ(texts(), "1.1 hidden 1; 1.2 hidden 1; 2.1 on_another_gpu 1; ");
}

TEST_F(GpuActivityTest, WhatIsLost_IsCounted_AndNothingAtAllIsNoTimeline) {
  NamedStream stream(0, 0);
  activity_.begin();
  activity_.know(stream, 0);
  find<StandInCuptiDrop>("stand_in_cupti_drop")(4);
  run("nobodys", 7, this);
  const GpuActivity::Report report = activity_.end();
  EXPECT_EQ(report.lost, 4);
  EXPECT_EQ(report.cuda_times, "events, since CUPTI reported nothing that these GPUs ran");
}

}  // namespace
}  // namespace tandem
