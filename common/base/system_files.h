// SPDX-License-Identifier: Apache-2.0
//
// Numbers in files of /proc and /sys, and the control groups of this process. `root` is the folder
// below which both lie: "/", or a test's.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

// The folders below `root` that limit this process's use of the resource of `controller` ("cpu",
// "memory"): the folders of the process's control group and of all its parents, in version 1 and in
// version 2. The limits of all folders apply at once.
[[nodiscard]] std::vector<std::filesystem::path> control_groups(const std::filesystem::path& root,
                                                                const std::string& controller);

// The number in a file; nothing where the file is absent or holds no number ("max").
[[nodiscard]] std::optional<double> number_in(const std::filesystem::path& file);

// The text behind `key` in a file of lines "key: text", such as /proc/cpuinfo; "" without one.
[[nodiscard]] std::string text_behind(const std::filesystem::path& file, std::string_view key);

// The number behind `key` in a file of lines "key number" or "key: number kB".
[[nodiscard]] std::optional<double> number_of(const std::filesystem::path& file,
                                              const std::string& key);

// OS numbers of the hardware threads that the calling thread may run on, ascending, as the
// operating system reports the binding.
[[nodiscard]] std::vector<int> allowed_cpus();

// The first line of a file, "" where the file cannot be read: a fact that the system does not
// report is absent from a record and is no error.
[[nodiscard]] std::string first_line(const std::string& path);

// The CPUs of a list such as "0-3,8", ascending.
[[nodiscard]] std::vector<int> cpus_of(std::string_view list);

// Ticks since the start, of one CPU ("cpu0") or of all ("cpu"), as a line of /proc/stat has them.
struct ProcessorTimes {
  double busy = 0;    // of programs, and of the kernel on their behalf; interrupts left out
  double stolen = 0;  // given to other virtual machines
  double total = 0;   // idle ticks among them
};
// By name; empty where the file cannot be read.
[[nodiscard]] std::map<std::string, ProcessorTimes> processor_times(
    const std::filesystem::path& stat);

}  // namespace tandem
