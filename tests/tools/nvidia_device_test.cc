// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/process/nvidia_device.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/scratch_folder.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;

// A root folder of its own.
class NvidiaDevice : public ::testing::Test {
 protected:
  void touch(const std::string& file) {
    fs::create_directories((root() / file).parent_path());
    std::ofstream(root() / file) << "";
  }
  [[nodiscard]] fs::path root() const { return folder_ / "root"; }

 private:
  test::ScratchFolder folder_;
};

TEST_F(NvidiaDevice, ControlFiles_AreNoDevice) {
  EXPECT_FALSE(has_nvidia_device(root()));
  for (const char* name : {"nvidiactl", "nvidia-uvm", "nvidia-caps", "nvidia", "nvidia0x"}) {
    touch(std::string("dev/") + name);
  }
  EXPECT_FALSE(has_nvidia_device(root()));
}

TEST_F(NvidiaDevice, NumberedFile_IsADevice) {
  for (const char* name : {"nvidia12", "nvidia0", "nvidiactl"}) touch(std::string("dev/") + name);
  EXPECT_TRUE(has_nvidia_device(root()));
}

TEST_F(NvidiaDevice, ThoseThatAreVisible_AreCounted) {
  const auto visible = [&](const char* names, int least = 0) {
    ::setenv("CUDA_VISIBLE_DEVICES", names, 1);
    const int devices = nvidia_devices(root(), least);
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    return devices;
  };
  EXPECT_EQ(visible("0"), 0);
  EXPECT_EQ(visible("0", 1), 1);
  for (const char* name : {"nvidia12", "nvidia0", "nvidiactl"}) touch(std::string("dev/") + name);
  EXPECT_EQ(nvidia_devices(root()), 2);
  EXPECT_EQ(visible("3"), 1);
  EXPECT_EQ(visible("0,1,2"), 2);
  EXPECT_EQ(visible("0,-1,1"), 1);
  EXPECT_EQ(visible(""), 0);
}

TEST_F(NvidiaDevice, DriversEntry_IsADevice) {
  fs::create_directories(root() / "proc/driver/nvidia/gpus");
  EXPECT_FALSE(has_nvidia_device(root()));
  touch("proc/driver/nvidia/gpus/0000:01:00.0/information");
  EXPECT_TRUE(has_nvidia_device(root()));
}

TEST_F(NvidiaDevice, WindowsDevice_NeedsItsDriver) {
  touch("dev/dxg");
  EXPECT_FALSE(has_nvidia_device(root()));
  touch("usr/lib/wsl/lib/libcuda.so.1");
  EXPECT_TRUE(has_nvidia_device(root()));
}

}  // namespace
}  // namespace tandem::cli
