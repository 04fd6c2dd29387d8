// SPDX-License-Identifier: Apache-2.0
#include "bench/job/simulated_job.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string_view>

#include "common/base/error.h"
#include "common/base/system_files.h"
#include "common/comm/shared_memory/allocations.h"
#include "simulate/cost/calibration.h"
#include "simulate/engine/simulated_communicator.h"
#include "simulate/engine/simulated_platform.h"
#include "simulate/engine/simulated_ranks.h"
#include "simulate/engine/task.h"

namespace tandem::bench {
namespace {

struct SimulatedMachine {
  HardwareDescription hardware;
  simulated::SimulationExtras extras{};
};

std::shared_ptr<const MachineCalibration> calibration_for(const JobOptions& options) {
  auto calibration = std::make_shared<MachineCalibration>(read_calibration(options.calibration));
  const std::string& precision = calibration->origin.precision;
  if (precision == options.precision) return calibration;
  fail(ErrorKind::kUsage,
       "--calibration={}: its times are for {}, and the precision is {}: calibrate in that one",
       options.calibration, precision, options.precision);
}

CalibratedSteps steps_of(const JobOptions& options) {
  return {.model = options.model, .batch = options.batch, .has_others = options.devices > 1};
}

SimulatedMachine machine_to_simulate(const JobOptions& options) {
  SimulatedMachine machine;
  const bool is_described = !options.platform.hardware.empty();
  bool is_of_cores = false;
  if (is_described) machine.hardware = simulated::described_hardware(options.platform);
  if (!options.calibration.empty()) {
    const auto calibration = calibration_for(options);
    std::optional<GpuDescription> described;
    if (is_described) described = machine.hardware.gpu;
    machine.extras.costs.emplace(calibration, steps_of(options), described);
    is_of_cores = !is_described && calibration->origin.backend == "host";
    if (!is_described) machine.hardware = calibration->hardware;
  } else {
    machine.extras.costs.emplace(machine.hardware.gpu);
  }
  machine.extras.costs->scale_by(options.scale);
  machine.extras.of_cores = is_of_cores;
  machine.extras.has_measured_links = !is_described;
  return machine;
}

}  // namespace

std::unique_ptr<Bootstrap> simulated_ranks(const JobOptions& options) {
  if (announced_ranks() > 1) {
    fail(ErrorKind::kUsage,
         "--backend=simulated: one process simulates all ranks, and the launcher started {}: run "
         "it without mpirun",
         announced_ranks());
  }
  const bool has_all_ranks = options.launch == Launch::kThreads || options.has_root;
  return simulated::make_folded_bootstrap(has_all_ranks ? 1 : options.devices);
}

std::map<std::string, double> take_path_shares(const Job& job) {
  if (!is_simulated(job)) return {};
  return simulated::simulation_of(*job.device).schedule().take_path_account().shares();
}

std::string path_words(const std::map<std::string, double>& shares) {
  std::string words = "critical path:";
  std::string_view latest;  // what the words speak of: "operations"
  for (const std::string_view name : simulated::kTimeNames) {
    const auto found = shares.find(std::string(name));
    if (found == shares.end()) continue;
    const std::string_view of = name.substr(0, name.find(' '));
    if (of != latest) words += fmt::format("{} {}", latest.empty() ? "" : ";", of);
    words += fmt::format("{} {:.3g} %{}", of == latest ? "," : "", 100 * found->second,
                         name.substr(of.size()));
    latest = of;
  }
  return words;
}

Job open_simulated_job(Bootstrap& bootstrap, const JobOptions& options) {
  const SimulatedMachine machine = machine_to_simulate(options);
  const HardwareDescription& hardware = machine.hardware;
  PlatformOptions platform = options.platform;
  platform.devices = options.devices;
  Job job;
  if (options.launch == Launch::kProcesses) {
    simulated::check_ranks(hardware, options.devices);
    job.rank_classes = options.has_root ? simulated::classes_with_root(options.devices)
                                        : std::vector<RankClass>{{0, options.devices}};
    platform.own_device = 0;
  }
  if (job.rank_classes.size() > 1) {
    platform.devices = static_cast<int>(job.rank_classes.size());
    platform.own_device.reset();
  }
  job.launch = options.launch;
  job.rank_exit = options.communicator.rank_exit;
  job.nodes = find_nodes(bootstrap);
  job.platform = simulated::make_simulated_platform(hardware, platform, machine.extras);
  job.device = &job.platform->device(0);
  job.simulated_hardware = hardware.name;
  job.backend_notice = fmt::format("backend simulated: {}; nothing is measured", hardware.name);
  job.usable_cores = static_cast<int>(allowed_cpus().size());
  job.transport = choose_transport(options.transport, bootstrap, *job.device);
  job.communicator = make_communicator(job.transport, bootstrap, *job.device, options.communicator);
  const bool is_of_cores = machine.extras.of_cores;
  if (is_of_cores && job.transport.route == Route::kSolo && job.rank_classes.empty()) {
    job.simulated_stage = job.device->allocate(Bytes{kStageBytes});
  }
  return job;
}

}  // namespace tandem::bench
