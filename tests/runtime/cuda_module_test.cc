// SPDX-License-Identifier: Apache-2.0
//
// The module as a program meets it: where it is looked for, and what it says without a driver.
#include "common/runtime/cuda_module.h"

#include <gtest/gtest.h>

#include <fstream>

#include "common/base/error.h"
#include "common/runtime/registry.h"
#include "tests/support/build_folder.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

TEST(CudaModuleCandidates, LieBesideTheProgram) {
  const auto candidates = cuda_module_candidates(nullptr, "/opt/tandem/bin/step_bench");
  ASSERT_EQ(candidates.size(), 2U);
  EXPECT_EQ(candidates[0], "/opt/tandem/lib/libtandem_cuda.so");
  EXPECT_EQ(cuda_module_candidates("", "/b/tests/bin/t")[1], "/b/lib/libtandem_cuda.so");
}

TEST(CudaModuleCandidates, AreOnlyTheFolderThatTheEnvironmentNames) {
  const auto candidates = cuda_module_candidates("/elsewhere", "/opt/tandem/bin/step_bench");
  ASSERT_EQ(candidates.size(), 1U);
  EXPECT_EQ(candidates[0], "/elsewhere/libtandem_cuda.so");
}

TEST(FirstCudaModule, IsTheOneThatIsLoaded) {
  const fs::path folder = fs::path(::testing::TempDir()) / "first_cuda_module";
  fs::create_directories(folder / "lib");
  const fs::path program = folder / "tests/bin/step_bench";
  EXPECT_EQ(first_cuda_module(cuda_module_candidates(nullptr, program)), "");
  std::ofstream(folder / "lib" / kCudaModuleFile) << "text";
  EXPECT_EQ(first_cuda_module(cuda_module_candidates(nullptr, program)),
            folder / "lib" / kCudaModuleFile);
  fs::remove_all(folder);
}

TEST(LoadCudaModule, Missing_NamesWhereItShouldBe) {
  const LoadedCudaModule loaded = load_cuda_module({"/nowhere/libtandem_cuda.so"});
  EXPECT_EQ(loaded.module, nullptr);
  EXPECT_EQ(loaded.trouble.state, CudaState::kModuleMissing);
  EXPECT_EQ(loaded.trouble.detail, "there is no /nowhere/libtandem_cuda.so");
}

TEST(LoadCudaModule, NotALibrary_IsBroken) {
  const fs::path file = fs::path(::testing::TempDir()) / "not_a_library.so";
  std::ofstream(file) << "text";
  const LoadedCudaModule loaded = load_cuda_module({file});
  EXPECT_EQ(loaded.module, nullptr);
  EXPECT_EQ(loaded.trouble.state, CudaState::kModuleBroken);
  fs::remove(file);
}

// A module whose own library is not where the dynamic linker looks: a node without cuBLASLt.
TEST(LoadCudaModule, WithoutALibraryThatItNeeds_NamesItAndSaysWhatToDo) {
  if (!fs::exists(TANDEM_INCOMPLETE_MODULE)) GTEST_SKIP() << "it was built on another machine";
  const LoadedCudaModule loaded = load_cuda_module({TANDEM_INCOMPLETE_MODULE});
  EXPECT_EQ(loaded.module, nullptr);
  EXPECT_EQ(loaded.trouble.state, CudaState::kModuleBroken);
  for (const char* part : {"libtandem_absent.so", "LD_LIBRARY_PATH"}) {
    EXPECT_NE(loaded.trouble.detail.find(part), std::string::npos) << loaded.trouble.detail;
  }
}

TEST(FindEntry, WithoutAModule_IsNull) {
  EXPECT_EQ(find_entry(LoadedCudaModule{}, "tandem_cuda_module"), nullptr);
}

fs::path built_module() { return test::build_folder() / "lib" / kCudaModuleFile; }

// Built, on a machine without GPU and driver: what a CI machine is.
class CudaModuleWithoutDriver : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(built_module())) GTEST_SKIP() << "the CUDA module is not part of this build";
    loaded_ = load_cuda_module({built_module()});
    const std::string& trouble = loaded_.trouble.detail;
    // An archive's node; where it was built, the library is where the module was linked with it.
    if (trouble.find("libcublasLt") != std::string::npos) GTEST_SKIP() << trouble;
    ASSERT_NE(loaded_.module, nullptr) << loaded_.trouble.detail;
    probe_ = loaded_.module->probe({});
    if (probe_.state != CudaState::kDriverMissing) GTEST_SKIP() << "there is a driver here";
  }

  LoadedCudaModule loaded_;
  CudaProbe probe_;
};

TEST_F(CudaModuleWithoutDriver, ProbeNamesTheDriver) {
  EXPECT_NE(probe_.detail.find("libcuda.so.1"), std::string::npos) << probe_.detail;
}

TEST_F(CudaModuleWithoutDriver, OtherEntries_AreFoundByName) {
  EXPECT_NE(find_entry(loaded_, "tandem_cuda_kernels_module"), nullptr);
  EXPECT_EQ(find_entry(loaded_, "tandem_cuda_nothing"), nullptr);
}

TEST_F(CudaModuleWithoutDriver, ErrorsCrossIntoTheProgram) {
  try {
    static_cast<void>(loaded_.module->open({}));
    ADD_FAILURE() << "opened";
  } catch (const Error& error) {  // thrown by another library, of the same type
    EXPECT_EQ(error.kind(), ErrorKind::kFailure);
    EXPECT_NE(std::string(error.what()).find("cudaErrorInsufficientDriver"), std::string::npos)
        << error.what();
  }
}

TEST_F(CudaModuleWithoutDriver, AskingForCuda_IsAUsageErrorWithTheWayAround) {
  if (!find_gpu("/").gpu.empty()) GTEST_SKIP() << "there is a GPU here";
  try {
    static_cast<void>(make_platform(BackendChoice::kCuda, {}));
    ADD_FAILURE() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_STREQ(error.what(),
                 "--backend=cuda: no NVIDIA GPU in this machine (no NVIDIA driver library "
                 "(libcuda.so.1) is to be found: install the driver, or in a container start it "
                 "with its GPUs passed through); pass --backend=host");
  }
}

}  // namespace
}  // namespace tandem
