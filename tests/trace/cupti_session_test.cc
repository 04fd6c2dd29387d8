// SPDX-License-Identifier: Apache-2.0
//
// The session on a stand-in for CUPTI's library, which delivers records as that does.
#include "common/trace/cupti_session.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <thread>

#include "tests/support/scratch_folder.h"
#include "tests/trace/stand_in_cupti.h"

namespace tandem::cupti {
namespace {

using testing::HasSubstr;
using timeline::SliceKind;

constexpr int kInsufficientPrivileges = 35;
constexpr int kMultipleSubscribers = 39;
constexpr int kOther = 999;

const std::vector<std::string> kLibrary{TANDEM_STAND_IN_CUPTI};

class CuptiSessionTest : public testing::Test {
 protected:
  ~CuptiSessionTest() override {
    for (const char* function : {"cuptiActivityRegisterCallbacks", "cuptiActivityEnable",
                                 "cuptiActivityFlushAll", "cuptiGetTimestamp"}) {
      refuse_(function, 0);
    }
  }

  template <class Function>
  Function* find(const char* name) {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }

  // Runs it for a moment, as enqueued by this thread.
  void run(const char* function, void* stream = nullptr) {
    StandInWork work{.function = function, .gpu = 1, .stream = stream, .correlation = call_()};
    work.begin = now_();
    work.end = work.begin + 100;
    ran_(&work);
  }

  void* const library_ = dlopen(TANDEM_STAND_IN_CUPTI, RTLD_NOW | RTLD_LOCAL);
  StandInCuptiCall* const call_ = find<StandInCuptiCall>("stand_in_cupti_call");
  StandInCuptiRan* const ran_ = find<StandInCuptiRan>("stand_in_cupti_ran");
  StandInCuptiNow* const now_ = find<StandInCuptiNow>("stand_in_cupti_now");
  StandInCuptiRefuse* const refuse_ = find<StandInCuptiRefuse>("stand_in_cupti_refuse");
  StandInCuptiDrop* const drop_ = find<StandInCuptiDrop>("stand_in_cupti_drop");
  StandInCuptiEnabled* const enabled_ = find<StandInCuptiEnabled>("stand_in_cupti_enabled");
  StandInCuptiBuffers* const buffers_ = find<StandInCuptiBuffers>("stand_in_cupti_buffers");
};

TEST_F(CuptiSessionTest, WhatRan_IsToldBehindItsMark_OnTheHostsClock) {
  Session session(kLibrary);
  ASSERT_EQ(session.why_not(), "");
  session.begin();
  const Nanoseconds before = Clock::now().time_since_epoch();
  run("_Z4axpyfPf");
  session.mark(3);
  run("cudaMemcpyAsync", this);
  session.mark(4);
  run("cudaMemcpyPeerAsync");
  run("cudaMemsetAsync");
  const Nanoseconds after = Clock::now().time_since_epoch();
  const CollectedRecords collected = session.end();
  ASSERT_EQ(collected.records.size(), 4U);
  std::string text;
  for (const Record& one : collected.records) {
    EXPECT_LE(before - collected.clock_error, one.begin);
    EXPECT_LE(one.begin, after + collected.clock_error);
    EXPECT_NEAR(static_cast<double>((one.end - one.begin).count()), 100, 1);
    EXPECT_EQ(one.gpu, 1);
    text += fmt::format("{} {} {}; ", one.name, one.behind, one.size.value);
  }
  EXPECT_EQ(text, "axpy 0 0; copy on device 3 512; copy to peer 4 1024; set 4 2048; ");
  EXPECT_EQ(collected.records[0].kind, SliceKind::kKernel);
  EXPECT_EQ(collected.records[1].kind, SliceKind::kMemory);
  EXPECT_EQ(collected.dropped + collected.without_time, 0);
  EXPECT_EQ(collected.failure, "");
}

// Pip's wheels of CUDA 12 have a folder each; those of CUDA 13, as toolkits, one for all.
TEST(CuptiLibraries, AreLookedForBesideTheCublasThatIsLoaded) {
  namespace fs = std::filesystem;
  const std::vector<std::string> before = usual_libraries();
  const test::ScratchFolder wheels;
  const fs::path folder = wheels / "nvidia/cublas/lib";
  fs::create_directories(folder);
  fs::create_directories(wheels / "nvidia/cuda_cupti/lib");
  fs::copy_file(TANDEM_STAND_IN_CUPTI, folder / "libcublasLt.so.12");
  void* const cublas = dlopen((folder / "libcublasLt.so.12").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(cublas, nullptr) << dlerror();
  std::vector<fs::path> found;
  for (const std::string& file : usual_libraries()) {
    if (std::ranges::find(before, file) != before.end()) continue;
    found.push_back(fs::path(file).lexically_normal().parent_path());
  }
  dlclose(cublas);
  EXPECT_EQ(found, (std::vector<fs::path>{folder, wheels / "nvidia/cuda_cupti/lib"}));
}

TEST_F(CuptiSessionTest, AThread_HasMarksOfItsOwn) {
  Session session(kLibrary);
  session.begin();
  session.mark(1);
  std::thread([&] {
    session.mark(2);
    run("of_another");
  }).join();
  run("of_this");
  std::map<std::string, std::uint64_t> behind;
  for (const Record& one : session.end().records) behind[one.name] = one.behind;
  EXPECT_EQ(behind, (std::map<std::string, std::uint64_t>{{"of_another", 2}, {"of_this", 1}}));
}

TEST_F(CuptiSessionTest, WhatRanBefore_IsForgotten_AndNothingIsAttachedBehind) {
  Session session(kLibrary);
  run("early");
  session.begin();
  run("late");
  EXPECT_EQ(enabled_(), 7);
  const CollectedRecords collected = session.end();
  ASSERT_EQ(collected.records.size(), 1U);
  EXPECT_EQ(collected.records[0].name, "late");
  EXPECT_EQ(enabled_(), 0);
}

TEST_F(CuptiSessionTest, RecordsOfManyBuffers_AreAllTold) {
  Session session(kLibrary);
  session.begin();
  const int before = buffers_();
  session.mark(1);
  for (int i = 0; i < 100; ++i) run("many");
  const CollectedRecords collected = session.end();
  EXPECT_EQ(collected.records.size(), 100U);
  EXPECT_TRUE(
      std::ranges::all_of(collected.records, [](const Record& one) { return one.behind == 1; }));
  EXPECT_GT(buffers_(), before + 1);
}

TEST_F(CuptiSessionTest, WhatIsLost_IsCounted) {
  Session session(kLibrary);
  session.begin();
  run("kept");
  const StandInWork untimed{.function = "untimed", .correlation = call_()};
  ran_(&untimed);
  drop_(5);
  const CollectedRecords collected = session.end();
  EXPECT_EQ(collected.records.size(), 1U);
  EXPECT_EQ(collected.without_time, 1);
  EXPECT_EQ(collected.dropped, 5);
}

TEST_F(CuptiSessionTest, Streams_HaveTheNumbersOfTheirRecords) {
  Session session(kLibrary);
  session.begin();
  run("one", this);
  run("other", library_);
  const CollectedRecords collected = [&] {
    EXPECT_NE(session.number_of(this), session.number_of(library_));
    return session.end();
  }();
  ASSERT_EQ(collected.records.size(), 2U);
  EXPECT_NE(collected.records[0].stream, collected.records[1].stream);
}

TEST_F(CuptiSessionTest, RefusedForWantOfPrivileges_SaysWhatToDo_AndLeavesNothingEnabled) {
  refuse_("cuptiActivityEnable", kInsufficientPrivileges);
  Session session(kLibrary);
  EXPECT_EQ(session.why_not(),
            "cuptiActivityEnable(CONCURRENT_KERNEL): CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35): run "
            "as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0");
  EXPECT_EQ(enabled_(), 0);
  session.begin();
  session.mark(1);
  EXPECT_FALSE(session.number_of(this).has_value());
  EXPECT_TRUE(session.end().records.empty());
}

TEST_F(CuptiSessionTest, AnotherProfiler_IsNamed) {
  refuse_("cuptiActivityRegisterCallbacks", kMultipleSubscribers);
  const Session session(kLibrary);
  EXPECT_THAT(session.why_not(), HasSubstr("another profiler is attached to this process"));
}

TEST_F(CuptiSessionTest, AFailureOnTheWay_IsTold) {
  Session session(kLibrary);
  session.begin();
  refuse_("cuptiActivityFlushAll", kOther);
  EXPECT_EQ(session.end().failure, "cuptiActivityFlushAll(): CUPTI_ERROR_OTHER (999)");
  refuse_("cuptiActivityFlushAll", 0);
  Session next(kLibrary);
  refuse_("cuptiGetTimestamp", kOther);
  next.begin();
  EXPECT_EQ(next.why_not(), "cuptiGetTimestamp(): CUPTI_ERROR_OTHER (999)");
  EXPECT_EQ(enabled_(), 0);
}

TEST_F(CuptiSessionTest, WithoutTheLibrary_SaysWhy) {
  EXPECT_THAT(Session({"/nowhere/libcupti.so"}).why_not(),
              HasSubstr("does not load (/nowhere/libcupti.so: cannot open shared object file"));
  EXPECT_EQ(Session({"/nowhere/libcupti.so", TANDEM_STAND_IN_CUPTI}).why_not(), "");
  EXPECT_EQ(Session({"libc.so.6"}).why_not(),
            "libc.so.6 has no cuptiActivityRegisterCallbacks: install a newer one");
}

}  // namespace
}  // namespace tandem::cupti
