// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launch/launch_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "common/base/error.h"
#include "common/base/this_process.h"
#include "reports/model/subject.h"

namespace tandem::cli {
namespace {

// Open MPI's daemons on several nodes probe silent connections and give up a node that does not
// answer after 5 + 3 x 2 s: long before ranks give up, whose end could not reach that node. Open
// MPI's own values take eight minutes. A user's settings go first. The daemons of Open MPI 5 are
// PRRTE's, which reads variables of its own.
constexpr std::array<std::pair<const char*, int>, 6> kNoticeLostNodes{
    {{"OMPI_MCA_oob_tcp_keepalive_time", 5},
     {"OMPI_MCA_oob_tcp_keepalive_intvl", 2},
     {"OMPI_MCA_oob_tcp_keepalive_probes", 3},
     {"PRTE_MCA_oob_tcp_keepalive_time", 5},
     {"PRTE_MCA_oob_tcp_keepalive_intvl", 2},
     {"PRTE_MCA_oob_tcp_keepalive_probes", 3}}};

const char* flag_of(Check check) {
  switch (check) {
    case Check::kBackend:
      return "--check=backend";
    case Check::kModel:
      return "--check=model";
    case Check::kOptions:
      break;
  }
  return "--check";
}

bool is_of_torch(const results::Cell& cell) { return !reports::implementation_of(cell).empty(); }

// Starts torch by the settings' path, not by the cell's implementation, since torch's version may
// change between two runs.
void add_torch(std::vector<std::string>& command, const LaunchSettings& settings) {
  TANDEM_CHECK(settings.torch, "a cell of torch's, and no torch");
  command.push_back(settings.torch->python);
  command.emplace_back("-B");
  command.push_back(settings.torch->script.string());
}

// Adds the cell's options, for step_bench or for the cell's implementation.
void add_cell(std::vector<std::string>& command, const results::Cell& cell,
              const LaunchSettings& settings) {
  if (is_of_torch(cell)) {
    add_torch(command, settings);
  } else {
    command.push_back(settings.step_bench.string());
  }
  command.push_back("--strategy=" + cell.strategy);
  command.push_back("--launch=" + cell.launch);
  const auto file = settings.model_files.find(cell.model);
  command.push_back("--model=" + (file == settings.model_files.end() ? cell.model : file->second));
  const auto module = settings.modules.find(cell.model);
  if (module != settings.modules.end()) command.push_back("--module=" + module->second);
  command.push_back(fmt::format("--batch={}", cell.global_batch));
  command.push_back(fmt::format("--devices={}", cell.devices));
  command.push_back("--backend=" + cell.backend);
  command.push_back("--min-time=" + settings.min_time);
  command.push_back(fmt::format("--min-samples={}", settings.min_samples));
  for (const auto& [name, value] : cell.options) command.push_back("--" + name + "=" + value);
}

void add_speeds(std::vector<std::string>& command, const results::Cell& cell,
                const MachineSpeeds& speeds) {
  if (!speeds.peak_gflops.empty() && !cell.options.contains("peak-gflops")) {
    command.push_back("--peak-gflops=" + speeds.peak_gflops);
  }
}

void add_failing(std::vector<std::string>& command, const results::Cell& cell,
                 const LaunchSettings& settings) {
  if (!settings.comm_timeout.empty() && !cell.options.contains("comm-timeout")) {
    command.push_back("--comm-timeout=" + settings.comm_timeout);
  }
  if (!settings.flight_folder.empty()) {
    command.push_back("--flight-dir=" + settings.flight_folder.string());
  }
}

}  // namespace

std::vector<std::string> check_command(const results::Cell& cell, const LaunchSettings& settings,
                                       Check check) {
  std::vector<std::string> command;
  add_cell(command, cell, settings);
  command.emplace_back(flag_of(check));
  return command;
}

std::vector<std::string> launch_command(const results::Cell& cell, const LaunchSettings& settings,
                                        const std::filesystem::path& record) {
  std::vector<std::string> command = launcher_words(settings.site, cell, settings.oversubscribe);
  add_cell(command, cell, settings);
  add_speeds(command, cell, settings.speeds);
  command.push_back("--record=" + record.string());
  if (!is_of_torch(cell)) add_failing(command, cell, settings);
  if (settings.oversubscribe) command.emplace_back("--oversubscribe");
  return command;
}

std::vector<std::string> launch_environment() {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!changes_the_measurement(*variable)) environment.emplace_back(*variable);
  }
  for (const auto& [name, seconds] : kNoticeLostNodes) {
    if (std::getenv(name) == nullptr) environment.push_back(fmt::format("{}={}", name, seconds));
  }
  environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT=1");
  environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
  return environment;
}

std::vector<std::string> launch_environment(const results::Cell& cell,
                                            const LaunchSettings& settings) {
  std::vector<std::string> environment = launch_environment();
  if (is_of_torch(cell)) {
    for (const std::string& variable : settings.torch->environment) {
      set_variable(environment, variable);
    }
  }
  return environment;
}

void set_variable(std::vector<std::string>& environment, const std::string& variable) {
  const std::string name = variable.substr(0, variable.find('=') + 1);
  std::erase_if(environment, [&](const std::string& other) { return other.starts_with(name); });
  environment.push_back(variable);
}

}  // namespace tandem::cli
