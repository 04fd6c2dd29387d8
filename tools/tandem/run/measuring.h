// SPDX-License-Identifier: Apache-2.0
//
// The functions that the measuring commands share, around a SweepRunner.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/units.h"
#include "common/results/document.h"
#include "common/results/launch_record.h"
#include "tools/tandem/launch/launch_site.h"
#include "tools/tandem/report/output_folder.h"
#include "tools/tandem/run/sweep_runner.h"

namespace tandem::cli {

// Throws a usage error where this process is a rank of mpirun: an mpirun started inside a rank of
// another mpirun does not find its way. `command` is "run" or "explain".
void check_not_a_rank(const char* command);

// Throws a usage error unless the back end is auto, host or cuda.
[[nodiscard]] std::string checked_backend(const std::string& backend);

// The most devices that a cell may have; 0 where cores are no limit. Host devices are cores.
// step_bench resolves `auto`; where the system has an NVIDIA device, `auto` is not the host.
[[nodiscard]] int core_limit(const std::string& backend, bool oversubscribe);

// Whether devices are cores: the back end is host, or auto where there is no NVIDIA device.
[[nodiscard]] bool is_on_host(const std::string& backend);

// The count that "all" devices of a sweep mean: `asked` where it is above 0; the slots of a site
// elsewhere; else the cores, or GPUs, of this machine. 0 where the count is not known.
[[nodiscard]] int all_devices(int asked, const std::string& backend, const LaunchSite& site);

// The value of --launch-timeout. Throws a usage error where no launch could end within the
// time-out.
[[nodiscard]] std::chrono::seconds checked_launch_timeout(const std::string& text);

// The value of --comm-timeout, or "" where none is given. Throws a usage error where the text is no
// duration of a millisecond or more.
[[nodiscard]] std::string checked_comm_timeout(const std::string& text);

// The state of this machine and of these programs now, for the first line of a journal; without
// programs of Tandem's, where launches run none, `step_bench` is empty.
[[nodiscard]] results::Context measuring_context(const std::string& sweep_name,
                                                 const std::filesystem::path& step_bench);

// A fact of the programs or the machine that was another one when the sweep was begun.
struct OtherFact {
  std::string name;
  std::string then;
  std::string now;
};

// The first of `facts`, keys of a context such as "tandem_cores", that differs; nothing where all
// are alike.
[[nodiscard]] std::optional<OtherFact> other_fact(const results::SweepInfo& found,
                                                  const results::Context& here,
                                                  std::initializer_list<std::string_view> facts);

// Throws a usage error that names both machines, or both versions: one journal would compare
// their figures as one machine's.
void check_same_machine(const results::SweepInfo& found, const results::Context& here,
                        const std::filesystem::path& journal);

// Throws a usage error where the journal's launches ran programs of another checksum.
void check_same_programs(const results::SweepInfo& found, const results::Context& here,
                         const std::filesystem::path& journal);

// Throws a usage error where the machine, the version, the programs or the sweep's definition
// differs.
void check_same_sweep(const results::SweepInfo& found, const results::SweepInfo& asked,
                      const std::filesystem::path& journal);

[[nodiscard]] bool any_with(results::Status status,
                            const std::vector<results::LaunchRecord>& launches);

// Runs `measure`; removes the results of a run that a usage error ended.
[[nodiscard]] SweepEnd run_or_withdraw(const OutputFolder& folder,
                                       const std::function<SweepEnd()>& measure);

// Throws a usage error that names the first of a sweep's cells whose options step_bench would
// refuse, by the rules that both programs share. step_bench itself is asked what it alone knows:
// once about each model by name, and about each kind of cell whose model is a file, whose
// implementation is another or that has an option with Mark::kAsked. An interrupt ends the check.
void check_options(const std::vector<results::Cell>& cells, const Launcher& launcher,
                   const Interrupts& interrupts);

// Throws a usage error where writing the results would overwrite one of `inputs` or a model's file.
void check_apart(const OutputPaths& out, std::vector<std::filesystem::path> inputs,
                 const ModelFiles& models);

}  // namespace tandem::cli
