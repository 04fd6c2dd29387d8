// SPDX-License-Identifier: Apache-2.0
//
// `tandem doctor`.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "common/base/system_files.h"
#include "reports/render/formats.h"
#include "tools/tandem/doctor/cores.h"
#include "tools/tandem/doctor/finding.h"
#include "tools/tandem/doctor/gpus.h"
#include "tools/tandem/doctor/limits.h"
#include "tools/tandem/doctor/program_run.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/nvidia_device.h"
#include "tools/tandem/process/program_paths.h"
#include "tools/tandem/run/measuring.h"
#include "tools/tandem/verbs/verb.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;
using doctor::Findings;

constexpr std::chrono::seconds kWatched{1};

struct DoctorOptions {
  bool json = false;
  bool has_details = false;
  std::string programs{};  // folder of the bench programs, for tests; empty: tandem's own
  std::string root = "/";  // folder in which facts are read, for tests
};

void append(Findings& all, Findings more) { std::ranges::move(more, std::back_inserter(all)); }

// Judges the node's files, and a second of watching the cores.
Findings look_at_node(const fs::path& root, const doctor::Variables& variables, bool has_gpu) {
  const std::vector<int> allowed = allowed_cpus();
  const doctor::CoreFacts cores = doctor::gather_cores(root, allowed);
  Findings all = doctor::judge_cores(cores);
  append(all, doctor::judge_frequency(doctor::gather_frequency(root, allowed)));
  append(all, doctor::judge_neighbours(
                  doctor::watch_neighbours(doctor::one_thread_per_core(root, allowed), kWatched)));
  append(all, doctor::judge_memory(doctor::gather_memory(root)));
  append(all, doctor::judge_limits(doctor::gather_limits(root, variables)));
  append(all, doctor::judge_slurm(variables, cores.cores, has_gpu));
  append(all, doctor::judge_variables(variables));
  return all;
}

// Idle GPUs are judged first, since Tandem's own runs would show on them afterwards.
Findings look_at_gpus(const doctor::Programs& programs, const fs::path& root,
                      const doctor::Variables& variables) {
  const std::vector<doctor::IdleGpu> present = doctor::ask_gpus();
  const std::vector<doctor::IdleGpu> visible = doctor::visible_of(present, variables);
  // Without nvidia-smi the system's files give the number of GPUs; without files one is assumed, so
  // that step_bench says what is missing.
  const int devices = present.empty() ? nvidia_devices(root, 1) : static_cast<int>(visible.size());
  if (devices == 0) {
    return {doctor::not_checked("gpus", "CUDA_VISIBLE_DEVICES hides all of them")};
  }
  Findings all = doctor::judge_gpus(visible);
  const doctor::GpuLoad load = doctor::run_gpu_load(programs, devices);
  append(all, doctor::judge_gpu_load(load));
  if (!load.record) {
    append(all, {doctor::not_checked("nccl", "no program runs on the GPUs")});
    return all;
  }
  append(all, doctor::judge_nccl(doctor::run_nccl(programs, devices)));
  return all;
}

Findings without_gpus() {
  return {doctor::not_checked("gpus",
                              "no NVIDIA GPU shows itself: drivers, peers and NCCL are "
                              "not looked at")};
}

// Reads this node's facts, runs the bench programs for all other facts, and prints its findings.
// Returns kVerdictExit where there is a problem, 130 after an interrupt, else 0. Throws a usage
// error under mpirun, and where the programs are missing.
int run_doctor(const DoctorOptions& options) {
  check_not_a_rank("doctor");
  const fs::path folder = options.programs.empty() ? program_folder() : fs::path(options.programs);
  static_cast<void>(find_step_bench(options.programs.empty() ? "" : folder / "step_bench"));
  const Interrupts interrupts;
  const doctor::Variables variables = doctor::gather_variables();
  const bool has_gpu = has_nvidia_device(options.root);
  const doctor::Programs programs(folder, interrupts);
  Findings all = look_at_node(options.root, variables, has_gpu);
  if (!interrupts.requested()) append(all, doctor::judge_ranks(doctor::run_ranks(programs)));
  if (!interrupts.requested()) {
    append(all, has_gpu ? look_at_gpus(programs, options.root, variables) : without_gpus());
  }
  const reports::Screen there = reports::screen(options.has_details);
  fmt::print("{}", options.json ? to_json(all) : to_text(all, there));
  return interrupts.requested() ? interrupted_exit() : exit_code(all);
}

}  // namespace

void add_doctor(CLI::App& app, Verbs& verbs) {
  const auto options = std::make_shared<DoctorOptions>();
  CLI::App& doctor = add_command(
      app,
      {.name = "doctor",
       .what = "say what is wrong with this node for measuring, and what to do",
       .examples = "  tandem doctor\n"
                   "  tandem doctor --json > node.json",
       .more = "Takes seconds. Exit status: 0 no problem, 3 a problem, 1 failed, 2 wrong usage."});
  doctor.add_flag("--json", options->json, "the findings as JSON");
  add_details(doctor, options->has_details);
  doctor.add_option("--programs", options->programs, "folder of the bench programs")->group("");
  doctor.add_option("--root", options->root, "what facts are read below")->group("");
  verbs.push_back({&doctor, [options](const Call&) { return run_doctor(*options); }});
}

}  // namespace tandem::cli
