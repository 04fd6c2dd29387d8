// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "common/results/launch_record.h"
#include "common/results/sweep_info.h"
#include "tools/tandem/launch_site.h"
#include "tools/tandem/output_folder.h"
#include "tools/tandem/sweep_runner.h"

// What commands that measure have in common, around a SweepRunner.
namespace tandem::cli {

inline constexpr int kInterruptedExit = 130;

// Throws a usage error where this process is a rank of mpirun: an own mpirun inside another one's
// rank would not find its way. `command` is "run" or "explain".
void check_not_a_rank(const char* command);

// Throws a usage error unless it is auto, host or cuda.
[[nodiscard]] std::string checked_backend(const std::string& backend);

// Devices that a cell may have: 0 where cores are no limit. Host devices are cores. What `auto`
// comes to is step_bench's to say; where the system has an NVIDIA device it is not the host.
[[nodiscard]] int core_limit(const std::string& backend, bool oversubscribe);

// Whether devices are cores: the back end is the host, or `auto` where there is no NVIDIA device.
[[nodiscard]] bool is_on_host(const std::string& backend);

// What "all" devices of a sweep are: `asked` where it is above 0; the slots of the site's nodes
// where it is elsewhere; else cores, or GPUs. 0 where that is not known.
[[nodiscard]] int all_devices(int asked, const std::string& backend, const LaunchSite& site);

// The value of --launch-timeout; a usage error where no launch could end in it.
[[nodiscard]] std::chrono::seconds checked_launch_timeout(const std::string& text);

// The value of --comm-timeout, or "" for none given; a usage error where it is no duration of a
// millisecond or more.
[[nodiscard]] std::string checked_comm_timeout(const std::string& text);

// Of this machine, now; for the first line of a journal.
[[nodiscard]] results::Context measuring_context(const std::string& sweep_name);

// Two machines, or two versions, in one journal would be compared as if they were one. Throws a
// usage error that tells them apart.
void check_same_machine(const results::SweepInfo& found, const results::Context& here,
                        const std::filesystem::path& journal);

// The same, and the same definition.
void check_same_sweep(const results::SweepInfo& found, const results::SweepInfo& asked,
                      const std::filesystem::path& journal);

[[nodiscard]] bool any_with(results::Status status,
                            const std::vector<results::LaunchRecord>& launches);

// Runs; leaves no results of a run that a usage error ended.
[[nodiscard]] SweepEnd run_or_withdraw(SweepRunner& runner, const OutputFolder& folder);

// The files of models, without their checksums.
[[nodiscard]] std::vector<std::filesystem::path> files_of(const ModelFiles& models);

}  // namespace tandem::cli
