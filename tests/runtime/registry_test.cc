// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/registry.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <string_view>

#include "common/base/error.h"
#include "tests/support/errors.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

const CudaProbe kUsable{CudaState::kUsable, ""};

BackendFacts gpu_with(CudaProbe cuda) { return {"/dev/nvidia0", "", std::move(cuda)}; }

// The message of the usage error that the decision is; fails the test where there is none.
std::string refusal(BackendChoice choice, const BackendFacts& facts) {
  const Error error = test::error_of([&] { static_cast<void>(decide_backend(choice, facts)); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
  EXPECT_TRUE(test::mentions(error, "--backend=host")) << error.what();
  return error.what();
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

TEST(DecideBackend, Auto_WithoutGpu_TakesHostAndSaysWhy) {
  const BackendDecision decision = decide_backend(BackendChoice::kAuto, {});
  EXPECT_EQ(decision.backend, Backend::kHost);
  EXPECT_EQ(decision.why, "backend host: no NVIDIA GPU in this machine");
}

TEST(DecideBackend, Auto_WithUsableGpu_TakesCuda) {
  const BackendDecision decision = decide_backend(BackendChoice::kAuto, gpu_with(kUsable));
  EXPECT_EQ(decision.backend, Backend::kCuda);
  EXPECT_EQ(decision.why, "backend cuda: NVIDIA GPU present (/dev/nvidia0)");
}

TEST(DecideBackend, PresentButUnusable_StopsWithTheReason) {
  for (const CudaState state :
       {CudaState::kModuleMissing, CudaState::kModuleBroken, CudaState::kDriverMissing,
        CudaState::kDriverTooOld, CudaState::kNoDeviceVisible, CudaState::kNoCode, CudaState::kBusy,
        CudaState::kNotPermitted, CudaState::kOtherTrouble}) {
    const BackendFacts facts = gpu_with({state, "the very reason"});
    for (const BackendChoice choice : {BackendChoice::kAuto, BackendChoice::kCuda}) {
      const std::string text = refusal(choice, facts);
      EXPECT_TRUE(contains(text, "the very reason")) << text;
      EXPECT_TRUE(contains(text, "/dev/nvidia0")) << text;
    }
  }
}

TEST(DecideBackend, DeniedDeviceFile_IsTheReason_WhereCudaSeesNothing) {
  BackendFacts facts = gpu_with({CudaState::kNoDeviceVisible, "CUDA shows no device"});
  facts.gpu_denied = "/dev/nvidia0";
  const std::string text = refusal(BackendChoice::kAuto, facts);
  EXPECT_TRUE(contains(text, "this user may not open /dev/nvidia0")) << text;
}

TEST(DecideBackend, Cuda_WithUsableGpu_IsTaken) {
  EXPECT_EQ(decide_backend(BackendChoice::kCuda, gpu_with(kUsable)).backend, Backend::kCuda);
}

TEST(DecideBackend, Cuda_WithoutGpu_Stops) {
  const std::string text =
      refusal(BackendChoice::kCuda, {"", "", {CudaState::kDriverMissing, "no driver"}});
  EXPECT_EQ(text, "--backend=cuda: no NVIDIA GPU in this machine (no driver); pass --backend=host");
}

TEST(DecideBackend, Host_IsAlwaysTaken_AndSaysWhatItLeavesUnused) {
  EXPECT_EQ(decide_backend(BackendChoice::kHost, {}).why, "backend host: as asked");
  const BackendDecision decision = decide_backend(BackendChoice::kHost, gpu_with(kUsable));
  EXPECT_EQ(decision.backend, Backend::kHost);
  EXPECT_TRUE(contains(decision.why, "/dev/nvidia0) is not used")) << decision.why;
}

// A file system of its own, removed afterwards.
class FindGpu : public ::testing::Test {
 protected:
  FindGpu() {
    std::string name = ::testing::TempDir() + "find_gpu_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no temporary folder";
    root_ = name;
  }
  ~FindGpu() override { fs::remove_all(root_); }

  void file(const std::string& path) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << "";
  }

  fs::path root_;
};

TEST_F(FindGpu, FindsNothingInAnEmptyMachine) { EXPECT_EQ(find_gpu(root_).gpu, ""); }

TEST_F(FindGpu, IgnoresControlFiles) {
  for (const char* name : {"dev/nvidiactl", "dev/nvidia-uvm", "dev/nvidia", "dev/nvidia0x"}) {
    file(name);
  }
  EXPECT_EQ(find_gpu(root_).gpu, "");
}

TEST_F(FindGpu, NamesTheFirstDeviceFile) {
  file("dev/nvidia3");
  file("dev/nvidia2");
  EXPECT_EQ(find_gpu(root_).gpu, (root_ / "dev/nvidia2").string());
  EXPECT_EQ(find_gpu(root_).gpu_denied, "");
}

TEST_F(FindGpu, NamesTheDeviceFileThatIsDenied) {
  if (geteuid() == 0) GTEST_SKIP() << "root may open everything";
  file("dev/nvidia0");
  ASSERT_EQ(chmod((root_ / "dev/nvidia0").c_str(), 0), 0);
  EXPECT_EQ(find_gpu(root_).gpu_denied, (root_ / "dev/nvidia0").string());
}

TEST_F(FindGpu, BelievesTheDriversList_WithoutDeviceFiles) {
  file("proc/driver/nvidia/gpus/0000:01:00.0/information");
  EXPECT_EQ(find_gpu(root_).gpu, (root_ / "proc/driver/nvidia/gpus/0000:01:00.0").string());
}

TEST_F(FindGpu, KnowsWindowsLinux) {
  file("dev/dxg");
  EXPECT_EQ(find_gpu(root_).gpu, "");  // there for any maker's GPU
  file("usr/lib/wsl/lib/libcuda.so.1");
  EXPECT_EQ(find_gpu(root_).gpu, (root_ / "usr/lib/wsl/lib/libcuda.so.1").string());
}

TEST(MakePlatform, OpensTheHost) {
  EXPECT_EQ(make_platform(BackendChoice::kHost, {})->backend(), Backend::kHost);
}

TEST(ProbeBackends, AsksCudaNothing_WhereHostIsAsked) {
  EXPECT_EQ(probe_backends(BackendChoice::kHost, {}).cuda.detail, "");
}

}  // namespace
}  // namespace tandem
