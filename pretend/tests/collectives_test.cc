// SPDX-License-Identifier: Apache-2.0
//
// Communicators of the pretended NCCL: integers and single values are computed between ranks, in
// one thread and in processes; other values are left as they are.
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "pretend/tests/pretended.h"

namespace tandem::test::pretended {
namespace {

constexpr int kInt64 = 4;  // ncclInt64
constexpr int kFloat = 7;  // ncclFloat32
constexpr int kSum = 0;    // ncclSum
constexpr int kInt32 = 2;  // ncclInt32

struct UniqueId {
  std::array<char, 128> text{};
};

template <typename... Arguments>
int nccl(const char* name, Arguments... arguments) {
  return call("libnccl.so.2", name, arguments...);
}

int sync(int device) { return cudart("cudaSetDevice", device) + cudart("cudaDeviceSynchronize"); }

template <typename Value>
void* device_values(int device, const std::vector<Value>& values) {
  void* const address = device_memory(device, values.size() * sizeof(Value));
  to_device(address, values.data(), values.size());
  return address;
}

template <typename Value>
std::vector<Value> host_values(const void* address, size_t count) {
  std::vector<Value> values(count);
  from_device(values.data(), address, count);
  return values;
}

int all_reduce(void* address, uint64_t count, int type, void* communicator) {
  return nccl("ncclAllReduce", static_cast<const void*>(address), address, count, type, kSum,
              communicator, static_cast<void*>(nullptr));
}

TEST(PretendedCollectives, OfOneThreadSumIntegersAtTheEndOfTheGroup) {
  std::array<void*, kGpus> communicators{};
  ASSERT_EQ(nccl("ncclCommInitAll", communicators.data(), kGpus, static_cast<const int*>(nullptr)),
            0);
  std::vector<void*> values;
  for (int rank = 0; rank < kGpus; ++rank) {
    values.push_back(device_values<int64_t>(rank, {rank, 10 * rank}));
  }
  ASSERT_EQ(nccl("ncclGroupStart"), 0);
  for (size_t rank = 0; rank < kGpus; ++rank) {
    ASSERT_EQ(all_reduce(values[rank], 2, kInt64, communicators[rank]), 0);
  }
  ASSERT_EQ(nccl("ncclGroupEnd"), 0);
  for (int rank = 0; rank < kGpus; ++rank) {
    EXPECT_EQ(host_values<int64_t>(values[static_cast<size_t>(rank)], 2),
              (std::vector<int64_t>{6, 60}));
    EXPECT_EQ(nccl("ncclCommDestroy", communicators[static_cast<size_t>(rank)]), 0);
  }
}

TEST(PretendedCollectives, OfManyFloatsLeaveThemAlone) {
  std::array<void*, 2> communicators{};
  ASSERT_EQ(nccl("ncclCommInitAll", communicators.data(), 2, static_cast<const int*>(nullptr)), 0);
  void* const values = device_values<float>(0, {1.5F, 2.5F});
  EXPECT_EQ(all_reduce(values, 2, kFloat, communicators[0]), 0);  // the other rank never calls
  EXPECT_EQ(sync(0), 0);
  EXPECT_EQ(host_values<float>(values, 2), (std::vector<float>{1.5F, 2.5F}));
}

// What a rank of a job does, in a process of its own: returns what differs from what is right.
int run_rank(const UniqueId& id, int rank, int ranks) {
  void* communicator = nullptr;
  int wrong = cudart("cudaSetDevice", rank);
  wrong += nccl("ncclCommInitRank", &communicator, ranks, id, rank);
  // More collectives than a rank may be ahead of the slowest one.
  for (int round = 0; round < 40; ++round) {
    void* const mine = device_values<int32_t>(rank, {rank + round});
    void* const all = device_memory(rank, static_cast<uint64_t>(ranks) * 4);
    wrong += nccl("ncclAllGather", static_cast<const void*>(mine), all, uint64_t{1}, kInt32,
                  communicator, static_cast<void*>(nullptr));
    const std::vector<int32_t> got = host_values<int32_t>(all, static_cast<size_t>(ranks));
    for (int other = 0; other < ranks; ++other) {
      wrong += got[static_cast<size_t>(other)] == other + round ? 0 : 1;
    }
  }
  void* const barrier = device_values<float>(rank, {1.0F});
  wrong += all_reduce(barrier, 1, kFloat, communicator) + sync(rank);
  wrong += host_values<float>(barrier, 1)[0] == static_cast<float>(ranks) ? 0 : 1;
  return wrong;
}

TEST(PretendedCollectives, OfProcessesGatherAndWaitForEachOther) {
  UniqueId id;
  ASSERT_EQ(nccl("ncclGetUniqueId", &id), 0);
  std::vector<pid_t> children;
  for (int rank = 1; rank < 3; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(run_rank(id, rank, 3) == 0 ? 0 : 1);
    children.push_back(child);
  }
  EXPECT_EQ(run_rank(id, 0, 3), 0);
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_NE(::access(("/dev/shm/" + std::string(id.text.data())).c_str(), F_OK), 0)
      << "left behind";
}

bool has_meeting_file(const UniqueId& id) {
  struct stat facts {};
  const std::string path = "/dev/shm/" + std::string(id.text.data());
  return ::stat(path.c_str(), &facts) == 0 && facts.st_size > 0;
}

// A process that waits for a second rank, which never comes.
pid_t start_lonely_rank(const UniqueId& id) {
  const pid_t child = ::fork();
  if (child == 0) {
    void* communicator = nullptr;
    ::_exit(nccl("ncclCommInitRank", &communicator, 2, id, 0));
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!has_meeting_file(id) && std::chrono::steady_clock::now() < deadline) ::sched_yield();
  return child;
}

TEST(PretendedCommunicators, RemoveWhatADeadRankLeftAndNothingElse) {
  UniqueId id;
  UniqueId another;
  ASSERT_EQ(nccl("ncclGetUniqueId", &id), 0);
  const pid_t child = start_lonely_rank(id);
  EXPECT_EQ(nccl("ncclGetUniqueId", &another), 0);
  EXPECT_TRUE(has_meeting_file(id)) << "its rank still waits there";
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(has_meeting_file(id));
  EXPECT_EQ(nccl("ncclGetUniqueId", &another), 0);
  EXPECT_FALSE(has_meeting_file(id)) << "left behind";
}

TEST(PretendedCommunicators, SplitByColorInTheOrderOfKeys) {
  UniqueId id;
  ASSERT_EQ(nccl("ncclGetUniqueId", &id), 0);
  const auto split = [&](int rank, int key) {
    void* communicator = nullptr;
    void* part = nullptr;
    int place = -1;
    int count = -1;
    nccl("ncclCommInitRank", &communicator, 2, id, rank);
    nccl("ncclCommSplit", communicator, 7, key, &part, static_cast<void*>(nullptr));
    nccl("ncclCommUserRank", part, &place);
    nccl("ncclCommCount", part, &count);
    return place * 10 + count;
  };
  const pid_t child = ::fork();
  if (child == 0) ::_exit(split(1, 0));
  EXPECT_EQ(split(0, 1), 12) << "the larger key comes last";
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 2);
}

}  // namespace
}  // namespace tandem::test::pretended
