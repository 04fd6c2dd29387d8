// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/doctor/variables.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "common/base/text.h"

namespace tandem::doctor {
namespace {

const std::string kSubject = "variables";

bool is_off(const std::string& value) { return value.empty() || value == "0"; }

// The effect of one variable; with `when_on` the rule holds only where the value is not 0.
struct Rule {
  std::string_view name;
  Level level;
  bool when_on;
  std::string_view effect;
  std::string_view advice;
  std::array<std::string_view, 2> harmless = {};  // a value with one of these texts does nothing
};

constexpr std::string_view kUnset = "unset it";

// Sources: CUDA C Programming Guide and NCCL User Guide (environment variables), pull request 774
// of NVIDIA/nccl for blocking launches, Open MPI's MCA parameters.
constexpr std::array kRules{
    Rule{"CUDA_LAUNCH_BLOCKING", Level::kProblem, true,
         "every kernel launch waits for its end: nothing overlaps, and collectives of several GPUs "
         "of a process can wait for each other for ever",
         kUnset},
    Rule{
        "CUDA_DEVICE_MAX_CONNECTIONS", Level::kWarning, false,
        "it sets how many streams reach a GPU side by side: with 1, communication starts only when "
        "compute queued before it has",
        "unset it, unless that is to be measured"},
    Rule{"NVIDIA_TF32_OVERRIDE", Level::kProblem, false,
         "it overrides which products run in TF32, so that --precision=fp32 and tf32 may be the "
         "same",
         kUnset},
    Rule{"NCCL_P2P_DISABLE", Level::kWarning, true,
         "NCCL goes through host memory, while copies do not",
         "unset it; --p2p=off takes both through the host"},
    Rule{"NCCL_SHM_DISABLE", Level::kWarning, true,
         "NCCL between processes without peer access goes through the network", kUnset},
    Rule{"NCCL_IB_DISABLE", Level::kWarning, true, "NCCL between nodes speaks TCP", kUnset},
    Rule{"NCCL_ALGO", Level::kWarning, false, "NCCL does not choose its algorithm", kUnset},
    Rule{"NCCL_PROTO", Level::kWarning, false, "NCCL does not choose its protocol", kUnset},
    Rule{"NCCL_MAX_CTAS", Level::kWarning, false,
         "it caps how much of a GPU NCCL uses, and so its bandwidth", kUnset},
    Rule{"NCCL_MAX_NCHANNELS", Level::kWarning, false,
         "it caps how much of a GPU NCCL uses, and so its bandwidth", kUnset},
    Rule{"OMPI_MCA_hwloc_base_binding_policy", Level::kWarning, false,
         "mpirun binds ranks as it says; a run by hand of one process on several cores is held to "
         "one of them",
         "unset it, or pass --bind-to none (tandem does)"},
    Rule{"OMPI_MCA_rmaps_base_mapping_policy", Level::kWarning, false,
         "mpirun places ranks as it says",
         "unset it, or see in a report's machine facts where ranks ran"},
    Rule{
        "OMPI_MCA_btl",
        Level::kWarning,
        false,
        "Open MPI moves data between ranks as it says: without vader (Open MPI 5: sm), through the "
        "network on one node too",
        "unset it, unless it is known to be needed",
        {"vader", "sm"}},
    Rule{"PRTE_MCA_hwloc_default_binding_policy", Level::kWarning, false,
         "mpirun of Open MPI 5 binds ranks as it says",
         "unset it, or pass --bind-to none (tandem does)"},
    Rule{"PRTE_MCA_rmaps_default_mapping_policy",
         Level::kWarning,
         false,
         "mpirun of Open MPI 5 places ranks as it says",
         "unset it, or see in a report's machine facts where ranks ran",
         {":oversubscribe", ":OVERSUBSCRIBE"}},
    Rule{"OMPI_MCA_pml", Level::kWarning, false, "Open MPI does not choose its transport", kUnset},
    Rule{
        "LD_PRELOAD", Level::kWarning, false,
        "every program loads it: an allocator, a profiler or another NCCL changes what is measured",
        kUnset},
    Rule{"CUDA_INJECTION64_PATH", Level::kProblem, false,
         "a profiler is loaded into every CUDA program", "unset it, and profile apart from timing"},
    Rule{"NVTX_INJECTION64_PATH", Level::kProblem, false,
         "a profiler is called at every phase of a step",
         "unset it, and profile apart from timing"},
    Rule{"GLIBC_TUNABLES", Level::kWarning, false,
         "it changes how memory is allocated: MPI's large all-reduces differ twofold by it",
         kUnset}};

// Families of variables that Tandem's programs drop before they start (see launch_command.cc) but
// other software on this node obeys.
struct Family {
  std::string_view prefix;
  std::string_view effect;
  std::string_view advice =
      "Tandem's programs ignore it; unset it for what is compared with them, such as PyTorch";
};
constexpr std::array kIgnored{
    Family{"OPENBLAS_",
           "OpenBLAS' choice of kernels and threads (with OPENBLAS_CORETYPE=Haswell it "
           "computes at half speed on CPUs with AVX-512)"},
    Family{"OMP_", "threads and waiting of every OpenMP program"},
    Family{"GOMP_", "threads and waiting of every OpenMP program"},
    Family{"KMP_", "threads and waiting of every OpenMP program"},
    Family{"DNNL_", "oneDNN's choice of kernels"},
    Family{"ONEDNN_", "oneDNN's choice of kernels"},
    Family{"MKL_", "threads or kernels of MKL",
           "Tandem does not use MKL; unset it for a PyTorch that does"}};

void judge_rules(const Variables& variables, Findings& findings) {
  for (const Rule& rule : kRules) {
    const auto found = variables.find(std::string(rule.name));
    if (found == variables.end() || (rule.when_on && is_off(found->second))) continue;
    const bool is_harmless = std::ranges::any_of(rule.harmless, [&](std::string_view value) {
      return !value.empty() && found->second.find(value) != std::string::npos;
    });
    if (found->second.empty() || is_harmless) continue;
    findings.push_back({kSubject, rule.level,
                        fmt::format("{}={}: {}", rule.name, found->second, rule.effect),
                        std::string(rule.advice)});
  }
}

void judge_ignored(const Variables& variables, Findings& findings) {
  for (const auto& [name, value] : variables) {
    for (const Family& family : kIgnored) {
      if (!name.starts_with(family.prefix)) continue;
      findings.push_back(warning(kSubject, fmt::format("{}={} sets {}", name, value, family.effect),
                                 std::string(family.advice)));
    }
  }
}

void judge_visible_gpus(const Variables& variables, Findings& findings) {
  const auto found = variables.find("CUDA_VISIBLE_DEVICES");
  if (found == variables.end()) return;
  if (found->second.empty() || found->second.starts_with("-1")) {
    findings.push_back(
        warning(kSubject, fmt::format("CUDA_VISIBLE_DEVICES='{}' hides all GPUs", found->second),
                "unset it to measure on GPUs"));
    return;
  }
  std::set<std::string_view> seen;
  for (const std::string_view gpu : split(found->second, ',')) {
    if (seen.insert(gpu).second) continue;
    findings.push_back(problem(
        kSubject, fmt::format("CUDA_VISIBLE_DEVICES={} names GPU {} twice", found->second, gpu),
        "name each GPU once; --oversubscribe puts several devices on one"));
  }
}

}  // namespace

Variables gather_variables() {
  Variables variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

Findings judge_variables(const Variables& variables) {
  Findings findings;
  judge_rules(variables, findings);
  judge_ignored(variables, findings);
  judge_visible_gpus(variables, findings);
  if (findings.empty()) {
    findings.push_back(ok(kSubject, "none that changes what CUDA, NCCL, MPI or CPU libraries do"));
  }
  return findings;
}

}  // namespace tandem::doctor
