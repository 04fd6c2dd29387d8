// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "tests/tools/doctor/expect_finding.h"
#include "tools/tandem/doctor/limits.h"

namespace tandem::doctor {
namespace {

TEST(DoctorVariables, ThatChangeNothing_AreFine) {
  EXPECT_TRUE(finds(judge_variables({{"PATH", "/bin"}, {"CUDA_VISIBLE_DEVICES", "2,0"}}),
                    Level::kOk, "variables", "none that changes"));
}

TEST(DoctorVariables, ThatCrippleALibrary_AreNamedWithTheirEffect) {
  const Findings findings =
      judge_variables({{"NCCL_P2P_DISABLE", "1"}, {"OMPI_MCA_hwloc_base_binding_policy", "core"}});
  EXPECT_EQ(findings.size(), 2U);
  for (const char* part : {"NCCL_P2P_DISABLE=1", "OMPI_MCA_hwloc_base_binding_policy=core"}) {
    EXPECT_TRUE(finds(findings, Level::kWarning, "variables", part));
  }
}

TEST(DoctorVariables, ThatMakeFiguresWrong_AreProblems) {
  const Findings findings = judge_variables({{"CUDA_LAUNCH_BLOCKING", "1"},
                                             {"NVIDIA_TF32_OVERRIDE", "0"},
                                             {"NVTX_INJECTION64_PATH", "/opt/nsight.so"}});
  EXPECT_EQ(findings.size(), 3U);
  for (const char* part : {"every kernel launch waits", "NVIDIA_TF32_OVERRIDE=0", "a profiler"}) {
    EXPECT_TRUE(finds(findings, Level::kProblem, "variables", part));
  }
}

TEST(DoctorVariables, ThatAreOff_DoNothing) {
  EXPECT_TRUE(finds(judge_variables({{"CUDA_LAUNCH_BLOCKING", "0"}, {"NCCL_P2P_DISABLE", ""}}),
                    Level::kOk, "variables", "none"));
}

TEST(DoctorVariables, TransportsOfOneNode_DoNothing) {
  EXPECT_TRUE(
      finds(judge_variables({{"OMPI_MCA_btl", "vader,self"}}), Level::kOk, "variables", ""));
  EXPECT_TRUE(finds(judge_variables({{"OMPI_MCA_btl", "tcp,self"}}), Level::kWarning, "variables",
                    "through the network"));
}

TEST(DoctorVariables, AGpuThatIsNamedTwice_IsAProblem) {
  EXPECT_TRUE(finds(judge_variables({{"CUDA_VISIBLE_DEVICES", "0,1,0"}}), Level::kProblem,
                    "variables", "names GPU 0 twice"));
}

TEST(DoctorVariables, ThatHideAllGpus_AreToldOf) {
  for (const char* value : {"", "-1"}) {
    EXPECT_TRUE(finds(judge_variables({{"CUDA_VISIBLE_DEVICES", value}}), Level::kWarning,
                      "variables", "hides all GPUs"));
  }
}

TEST(DoctorVariables, AreThoseOfThisProcess) {
  ::setenv("TANDEM_DOCTOR_TEST", "a=b", 1);
  EXPECT_EQ(gather_variables().at("TANDEM_DOCTOR_TEST"), "a=b");
}

}  // namespace
}  // namespace tandem::doctor
