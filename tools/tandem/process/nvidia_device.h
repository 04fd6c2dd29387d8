// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace tandem::cli {

// Whether the system below `root` has an NVIDIA GPU, by the rules of the runtime's registry, which
// the command line does not link: a device file nvidia0, nvidia1, ... (nvidiactl and nvidia-uvm
// exist without a GPU), an entry of the driver, or Windows' paravirtual device with its driver.
[[nodiscard]] bool has_nvidia_device(const std::filesystem::path& root = "/");

// How many GPUs a program may use: the device files, or the driver's entries where there are no
// device files, but no more than CUDA_VISIBLE_DEVICES names before -1. `least` where the system
// reports fewer.
[[nodiscard]] int nvidia_devices(const std::filesystem::path& root = "/", int least = 0);

}  // namespace tandem::cli
