// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/process/nvidia_device.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(count_nvidia_devices(root()), 0);
  for (const char* name : {"nvidia12", "nvidia0", "nvidiactl"}) touch(std::string("dev/") + name);
  EXPECT_TRUE(has_nvidia_device(root()));
  EXPECT_EQ(count_nvidia_devices(root()), 2);
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
