// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "common/comm/nccl_module.h"
#include "common/comm/thread_bootstrap.h"
#include "common/comm/transports/transport_registry.h"
#include "tests/support/errors.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

const RankFacts kHost{.ranks = 2};
constexpr const char* kShared = "ranks 0 and 1 share a GPU";

RankFacts gpus(int ranks, bool are_threads) {
  return {.backend = Backend::kCuda, .ranks = ranks, .are_threads = are_threads};
}

TEST(TransportChoiceTest, HostDevices_TakeWhatIsAskedFor) {
  for (const Transport asked : {Transport::kAuto, Transport::kSharedMemory, Transport::kMpi}) {
    const TransportChoice choice = decide_transport(asked, kHost);
    EXPECT_EQ(choice.transport, asked);
    EXPECT_EQ(choice.route, Route::kDirect);
    EXPECT_EQ(choice.why, "");
  }
}

TEST(TransportChoiceTest, Auto_OnGpusOfTheirOwn_IsNccl) {
  for (const bool are_threads : {true, false}) {
    const TransportChoice choice = decide_transport(Transport::kAuto, gpus(2, are_threads));
    EXPECT_EQ(choice.transport, Transport::kNccl);
    EXPECT_EQ(choice.route, Route::kDirect);
    EXPECT_EQ(choice.why, "nccl: each rank has a GPU of its own");
  }
}

TEST(TransportChoiceTest, Auto_OnSharedGpus_GoesThroughTheHost_AndSaysWhy) {
  RankFacts facts = gpus(2, false);
  facts.sharing = kShared;
  const TransportChoice processes = decide_transport(Transport::kAuto, facts);
  EXPECT_EQ(processes.transport, Transport::kMpi);
  EXPECT_EQ(processes.route, Route::kStaged);
  EXPECT_EQ(processes.why, "mpi through the host: ranks 0 and 1 share a GPU");
  facts.are_threads = true;
  const TransportChoice threads = decide_transport(Transport::kAuto, facts);
  EXPECT_EQ(threads.why, "shared_memory through the host: ranks 0 and 1 share a GPU");
}

TEST(TransportChoiceTest, Gpus_WithoutNccl_AreRefusedWithTheReason) {
  RankFacts facts = gpus(4, false);
  facts.no_nccl = "libnccl.so.2 does not load";
  for (const Transport asked : {Transport::kAuto, Transport::kNccl}) {
    const Error error = error_of([&] { static_cast<void>(decide_transport(asked, facts)); });
    EXPECT_STREQ(error.what(), "collectives between GPUs are NCCL's: libnccl.so.2 does not load");
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  }
}

TEST(TransportChoiceTest, Auto_OfOneRank_IsNcclForAProcess_AndNothingForThreadsOfOne) {
  EXPECT_EQ(decide_transport(Transport::kAuto, gpus(1, false)).transport, Transport::kNccl);
  EXPECT_EQ(decide_transport(Transport::kAuto, gpus(1, true)).route, Route::kSolo);
}

TEST(TransportChoiceTest, TransportOfTheHost_IsForSharedGpusAlone) {
  RankFacts facts = gpus(2, false);
  for (const Transport asked : {Transport::kSharedMemory, Transport::kMpi}) {
    facts.sharing = "";
    const Error error = error_of([&] { static_cast<void>(decide_transport(asked, facts)); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_TRUE(mentions(error, "between which collectives are NCCL's: use the transport auto"))
        << error.what();
    facts.sharing = kShared;
    const TransportChoice choice = decide_transport(asked, facts);
    EXPECT_EQ(choice.transport, asked);
    EXPECT_EQ(choice.route, Route::kStaged);
  }
}

TEST(TransportChoiceTest, NcclWhereItCannotBe_IsAUsageErrorWithTheReason) {
  const auto refusal = [](const RankFacts& facts) {
    return error_of([&] { static_cast<void>(decide_transport(Transport::kNccl, facts)); });
  };
  EXPECT_STREQ(refusal(kHost).what(),
               "the transport nccl: it is between GPUs, and these devices are cores; or use the "
               "transport auto");
  RankFacts facts = gpus(2, false);
  facts.sharing = kShared;
  EXPECT_TRUE(mentions(refusal(facts), "share a GPU, and NCCL wants one for each"));
  EXPECT_EQ(refusal(facts).kind(), ErrorKind::kUsage);
}

TEST(TransportChoiceTest, SharedGpusThatNcclTakes_AreNccls_UnlessTheHostIsAskedFor) {
  RankFacts facts = gpus(2, false);
  facts.sharing = kShared;
  facts.nccl_shares = true;
  for (const Transport asked : {Transport::kAuto, Transport::kNccl}) {
    const TransportChoice choice = decide_transport(asked, facts);
    EXPECT_EQ(choice.transport, Transport::kNccl);
    EXPECT_EQ(choice.route, Route::kDirect);
    EXPECT_EQ(choice.why,
              "nccl: ranks 0 and 1 share a GPU, which NCCL_MULTI_RANK_GPU_ENABLE allows");
  }
  EXPECT_EQ(decide_transport(Transport::kMpi, facts).route, Route::kStaged);
}

TEST(TransportChoiceTest, Sharing_NamesTheFirstTwo) {
  EXPECT_EQ(sharing_of({"a", "b", "c"}), "");
  EXPECT_EQ(sharing_of({"a", "b", "c", "b", "a"}), "ranks 0 and 4 share a GPU");
}

// Devices of their own for all but NCCL, which takes each GPU once.
TEST(TransportChoiceTest, SlicesOfOneGpu_GoThroughTheHostAndSaySo) {
  const std::string slices = sharing_of(
      {"0 00000000:3B:00.0 GPU-1", "0 00000000:86:00.0 GPU-2", "0 00000000:86:00.0 GPU-3"});
  EXPECT_EQ(slices, "ranks 1 and 2 have slices of one GPU (MIG)");
  RankFacts facts = gpus(3, false);
  facts.sharing = slices;
  const TransportChoice choice = decide_transport(Transport::kAuto, facts);
  EXPECT_EQ(choice.route, Route::kStaged);
  EXPECT_TRUE(choice.why.ends_with("through the host: " + slices)) << choice.why;
}

TEST(TransportChoiceTest, GpusOfOneAddressOnTwoNodes_AreTwo) {
  EXPECT_EQ(sharing_of({"0 00000000:3B:00.0 GPU-1", "1 00000000:3B:00.0 GPU-2"}), "");
}

TEST(TransportChoiceTest, NcclOnHostDevices_IsRefusedOnAllRanks) {
  const auto platform = host_devices(2);
  run_ranks_as_threads(2, [&](Bootstrap& bootstrap) {
    const Error error = error_of([&] {
      static_cast<void>(
          make_communicator(Transport::kNccl, bootstrap, platform->device(bootstrap.rank())));
    });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  });
}

// A machine without CUDA's module says so; one with it finds NCCL or says what is missing.
TEST(NcclModuleTest, Probe_FindsALibrary_OrSaysWhatToDo) {
  const NcclProbe probe = probe_nccl();
  if (probe.usable) {
    EXPECT_NE(probe.version, "");
    EXPECT_NE(describe_nccl(probe).find(
                  "algorithm and protocol chosen by NCCL, which does not report them"),
              std::string::npos);
  } else {
    EXPECT_NE(probe.trouble, "");
  }
}

TEST(NcclModuleTest, SharedGpus_AreTakenFrom230On_WhereTheVariableIsANumberButZero) {
  const auto takes = [](const char* version, const char* value) {
    if (value != nullptr) setenv("NCCL_MULTI_RANK_GPU_ENABLE", value, 1);
    const bool taken = takes_shared_gpus({.usable = true, .trouble = "", .version = version});
    unsetenv("NCCL_MULTI_RANK_GPU_ENABLE");
    return taken;
  };
  for (const char* const version : {"2.30.0", "2.30.7", "2.100.1", "3.0.0"}) {
    EXPECT_TRUE(takes(version, "1")) << version;
    EXPECT_TRUE(takes(version, "0x2")) << version;
    for (const char* const value : {"0", "", "yes"}) EXPECT_FALSE(takes(version, value)) << value;
    EXPECT_FALSE(takes(version, nullptr)) << version;
  }
  for (const char* const version : {"2.29.7", "2.3.30", "1.99.0", "2", ""}) {
    EXPECT_FALSE(takes(version, "1")) << version;
  }
}

TEST(NcclModuleTest, Description_HasWhatTheUserPrescribed) {
  setenv("NCCL_ALGO", "Ring", 1);
  const std::string text = describe_nccl({.usable = true, .trouble = "", .version = "2.28.9"});
  unsetenv("NCCL_ALGO");
  EXPECT_EQ(text.find("2.28.9; "), 0U) << text;
  EXPECT_NE(text.find("NCCL_ALGO=Ring"), std::string::npos) << text;
}

}  // namespace
}  // namespace tandem::test
