// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tools/tandem/process/child_reason.h"

namespace tandem::cli {
namespace {

constexpr const char* kMpirunEnd =
    "--------------------------------------------------------------------------\n"
    "Primary job  terminated normally, but 1 process returned\n"
    "a non-zero exit code. Per user-direction, the job has been aborted.\n"
    "--------------------------------------------------------------------------\n"
    "[node:01] 1 more process has sent help message help-mpi.txt / aborted\n"
    "[node:01] Set MCA parameter \"orte_base_help_aggregate\" to 0 to see all\n";

TEST(StderrReason, IsTheLastLine) {
  EXPECT_EQ(reason_in("noise\n  step_bench: no such model \n\n"), "step_bench: no such model");
  EXPECT_EQ(reason_in("no line end"), "no line end");
  EXPECT_EQ(reason_in(""), "");
}

TEST(StderrReason, MpirunsRemarks_ArePassedOver) {
  EXPECT_EQ(reason_in(std::string("step_bench: no such model\n") + kMpirunEnd),
            "step_bench: no such model");
}

TEST(StderrReason, OfTorchsRanks_IsTheOneThatFailedByItself) {
  const std::string cause = "step_twin: rank 1: RuntimeError: rank 1 is bad";
  const std::string effect = "step_twin: rank 0: it lost another rank: Connection reset by peer";
  EXPECT_EQ(reason_in(cause + "\n" + effect + "\n" + kMpirunEnd), cause);
  EXPECT_EQ(reason_in(effect + "\n" + cause + "\nTraceback of the other rank\n"), cause);
  EXPECT_EQ(reason_in(effect + "\n" + kMpirunEnd), effect);
}

TEST(StderrReason, PretendedGpusNotice_IsPassedOver) {
  EXPECT_EQ(reason_in("step_twin: no room\npretended GPUs: 4 values were read back\n"),
            "step_twin: no room");
}

TEST(StderrReason, ControlCharacters_AreShown) {
  EXPECT_EQ(reason_in(std::string("a \x1b[31m red \0 end", 17)), "a ?[31m red ? end");
}

TEST(StderrReason, SrunsLines_ArePassedOver_UnlessThereIsNothingElse) {
  const std::string end =
      "slurmstepd: error: *** STEP 3.0 ON node CANCELLED ***\n"
      "srun: error: node: tasks 0-1: Exited with exit code 2\n";
  EXPECT_EQ(reason_in("step_bench: no such model\n" + end), "step_bench: no such model");
  EXPECT_EQ(
      reason_in("srun: error: Unable to create step for job 5: More processors requested than "
                "permitted\nsrun: launch failed\n"),
      "srun: error: Unable to create step for job 5: More processors requested than permitted");
}

TEST(StderrReason, MpirunAlone_IsBetterThanNothing) {
  EXPECT_EQ(reason_in(kMpirunEnd), "Primary job  terminated normally, but 1 process returned");
}

TEST(StderrReason, MpirunsOwnTrouble_GoesBeforeItsRemarksOnTheEnd) {
  const std::string ruler(74, '-');
  EXPECT_EQ(
      reason_in(kMpirunEnd + ruler +
                "\nIt appears as if there is not enough space for /dev/shm/vader_segment.1 (the "
                "shared-memory backing\nfile). It is likely that your job will now abort.\n" +
                ruler + "\n[vm:03254] *** An error occurred in MPI_Init_thread\n"),
      "Open MPI found not enough space for /dev/shm/vader_segment.1: free or enlarge the file "
      "system it lies on");
}

TEST(StderrReason, MpisOwnErrorCode_IsAReason) {
  EXPECT_EQ(reason_in("[vm:1] *** An error occurred in MPI_Recv\n"
                      "[vm:1] *** MPI_ERR_TRUNCATE: message truncated\n"
                      "[vm:1] *** MPI_ERRORS_ARE_FATAL (processes in this communicator will\n"
                      "[vm:1] ***    and potentially your MPI job)\n"),
            "[vm:1] *** MPI_ERR_TRUNCATE: message truncated");
}

TEST(StderrReason, RemarkWithItsPlaceInOpenMpi_IsNoReason) {
  EXPECT_EQ(reason_in("step_bench: no such model\n"
                      "[vm][[16852,1],3][../../opal/mca/btl/tcp/btl_tcp_proc.c:266:mca_btl_tcp_proc"
                      "_create_interface_graph] Unable to find reachable pairing\n"),
            "step_bench: no such model");
}

TEST(StderrReason, WarningOfOpenMpisEventLibrary_IsNoReason) {
  EXPECT_EQ(
      reason_in("step_bench: no such model\n"
                "[warn] Epoll MOD(4) on fd 23 failed. Old events were 6: Bad file descriptor\n"),
      "step_bench: no such model");
}

TEST(StderrReason, NoticeOfTheBackend_IsNoReason) {
  EXPECT_EQ(reason_in("backend host: no NVIDIA GPU in this machine\n"), "");
  EXPECT_EQ(reason_in("step_bench: no such model\nbackend host: as asked\n"),
            "step_bench: no such model");
}

TEST(StderrReason, Tail_BeginsAtALine) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "line " + std::to_string(i) + "\n";
  const std::string tail = tail_of(text);
  EXPECT_LE(tail.size(), 4096U);
  EXPECT_TRUE(tail.starts_with("line "));
  EXPECT_TRUE(tail.ends_with("line 999\n"));
}

TEST(EndedRank, OfMpirun_IsTheOneThatASignalEnded) {
  const auto end = ended_rank_in(
      std::string(kMpirunEnd) +
      "--------------------------------------------------------------------------\n"
      "mpirun noticed that process rank 12 with PID 0 on node vm exited on signal 9 (Killed).\n"
      "--------------------------------------------------------------------------\n");
  ASSERT_TRUE(end);
  EXPECT_EQ(end->rank, 12);
  EXPECT_EQ(end->signal, 9);
}

TEST(EndedRank, OfMpirun_MayHaveLeftWithACode) {
  const auto end = ended_rank_in(
      "mpirun detected that one or more processes exited with non-zero status, thus causing\n"
      "the job to be terminated. The first process to do so was:\n\n"
      "  Process name: [[19562,1],3]\n  Exit code:    7\n");
  ASSERT_TRUE(end);
  EXPECT_EQ(end->rank, 3);
  EXPECT_EQ(end->signal, 0);
  EXPECT_EQ(end->exit_code, 7);
}

TEST(EndedRank, OfOpenMpi5_IsTheOneThatASignalEnded_ThoughTheLineIsBroken) {
  const auto end = ended_rank_in(
      "prterun noticed that process rank 1 with PID 69 on node vm exited on\n"
      "signal 9 (Killed).\n");
  ASSERT_TRUE(end);
  EXPECT_EQ(end->rank, 1);
  EXPECT_EQ(end->signal, 9);
}

TEST(EndedRank, OfOpenMpi5_MayHaveLeftWithACode) {
  const auto end = ended_rank_in(
      "prterun detected that one or more processes exited with non-zero status,\n"
      "thus causing the job to be terminated. The first process to do so was:\n\n"
      "   Process name: [prterun-vm-74@1,3]\n   Exit code:    7\n");
  ASSERT_TRUE(end);
  EXPECT_EQ(end->rank, 3);
  EXPECT_EQ(end->exit_code, 7);
}

TEST(EndedRank, OfSrun_IsItsTask) {
  const auto end = ended_rank_in("srun: error: node1: task 1: Killed\n");
  ASSERT_TRUE(end);
  EXPECT_EQ(end->rank, 1);
  EXPECT_EQ(end->signal, 9);
}

TEST(EndedRank, OfOtherWords_IsNone) {
  EXPECT_FALSE(ended_rank_in("step_bench: rank 1 failed\n"));
  EXPECT_FALSE(ended_rank_in("srun: error: task 1 launch failed\n"));
  EXPECT_FALSE(ended_rank_in(""));
}

TEST(LostNode, OfMpirun_IsTheFarEndOfTheLostConnection) {
  EXPECT_EQ(lost_node_in("--------------------------------------------------------------------\n"
                         "ORTE has lost communication with a remote daemon.\n\n"
                         "  HNP daemon   : [[35037,0],0] on node node1\n"
                         "  Remote daemon: [[35037,0],1] on node node7\n\n"
                         "This is usually due to either a failure of the TCP network\n"),
            "node7");
}

constexpr const char* kLostByOpenMpi5 =
    "----------------------------------------------------------------------\n"
    "PRTE has lost communication with a remote daemon.\n\n"
    "  HNP daemon   : [prterun-vm-114@0,0] on node node1\n"
    "  Remote daemon: [prterun-vm-114@0,1] on node node7\n\n";

TEST(LostNode, OfOpenMpi5_IsTheFarEndOfTheLostConnection) {
  const std::string running = std::string("backend host: as asked\n") + kLostByOpenMpi5;
  EXPECT_EQ(lost_node_in(running), "node7");
  EXPECT_FALSE(says_no_daemon(running));
}

TEST(LostNode, OfOpenMpi5_IsNoneWhereNoRankHasStarted) {
  const std::string never =
      std::string("ssh: Could not resolve hostname node7: Name or service not known\n") +
      kLostByOpenMpi5;
  EXPECT_TRUE(says_no_daemon(never));
  EXPECT_EQ(lost_node_in(never), "");
}

TEST(StderrReason, IsNoZeroByte) {
  EXPECT_EQ(reason_in(std::string_view("step_bench: no room\n\0", 21)), "step_bench: no room");
}

TEST(LostNode, OfOtherWords_IsNone) {
  EXPECT_EQ(lost_node_in("  Remote daemon: [[35037,0],1] on node node7\n"), "");
  EXPECT_EQ(lost_node_in("ORTE has lost communication with a remote daemon.\n"), "");
  EXPECT_EQ(lost_node_in(""), "");
}

}  // namespace
}  // namespace tandem::cli
