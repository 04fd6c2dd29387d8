// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/doctor/limits.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "common/base/system_files.h"
#include "common/base/text.h"
#include "common/base/units.h"

namespace tandem::doctor {

namespace {

namespace fs = std::filesystem;

constexpr double kMiB = 1 << 20;
constexpr double kGiB = 1 << 30;
constexpr double kUnlimited = 9e18;  // version 1 writes a number of this size for "no limit"
constexpr double kWarnedLeft = 2 * kGiB;
constexpr double kLeastLeft = kGiB / 2;
constexpr double kWarnedSwapped = kGiB / 16;
constexpr double kLeastShared = 128 * kMiB;
constexpr double kWarnedShared = kGiB;
constexpr double kLeastLocked = 8 * kMiB;
constexpr double kLeastFiles = 1024;

std::string gib(double bytes) { return fmt::format("{:.3g} GiB", bytes / kGiB); }

std::optional<double> kilobytes(const fs::path& meminfo, const char* key) {
  const auto number = number_of(meminfo, key);
  return number ? std::optional(*number * 1024) : std::nullopt;
}

// The number in the first file that exists, version 2's or version 1's.
std::optional<double> either(const fs::path& group, const char* two, const char* one) {
  const auto number = number_in(group / two);
  return number ? number : number_in(group / one);
}

// The group's used memory without the cache of files, which the kernel gives up first.
std::optional<double> used_by(const fs::path& group) {
  const auto used = either(group, "memory.current", "memory.usage_in_bytes");
  if (!used) return std::nullopt;
  const auto cache = number_of(group / "memory.stat", "total_inactive_file");
  return *used - cache.value_or(number_of(group / "memory.stat", "inactive_file").value_or(0));
}

Finding judge_left(const MemoryFacts& facts) {
  double left = *facts.available;
  std::string text = fmt::format("{} left of {}", gib(left), gib(facts.total.value_or(left)));
  if (facts.limit) {
    const double in_group = std::max(0.0, *facts.limit - facts.used.value_or(0));
    text += fmt::format("; the control group's limit of {} leaves {}", gib(*facts.limit),
                        gib(in_group));
    left = std::min(left, in_group);
  }
  const char* const advice =
      "end what uses the memory, or give the container or job more; host devices share what is "
      "left";
  if (left < kLeastLeft) return problem("memory", text, advice);
  if (left < kWarnedLeft) return warning("memory", text, advice);
  return ok("memory", text);
}

std::string text_of(double bytes) {
  return bytes < kGiB ? fmt::format("{:.4g} MiB", bytes / kMiB)
                      : fmt::format("{:.4g} GiB", bytes / kGiB);
}

std::optional<double> limit_of(int resource) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return std::nullopt;
  if (limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<double>(limit.rlim_cur);
}

std::string container_of(const fs::path& root, const Variables& variables) {
  std::error_code ignored;
  if (fs::exists(root / ".dockerenv", ignored)) return "Docker";
  if (fs::exists(root / "run/.containerenv", ignored)) return "Podman";
  if (variables.contains("APPTAINER_CONTAINER")) return "Apptainer";
  if (variables.contains("KUBERNETES_SERVICE_HOST")) return "Kubernetes";
  return "";
}

Finding judge_shared(const LimitFacts& facts) {
  const std::string subject = "/dev/shm";
  const std::string advice =
      facts.container.empty()
          ? "as root: mount -o remount,size=50% /dev/shm; or free what lies in it"
          : "start the container with more: --shm-size=16g or --ipc=host; in Kubernetes an "
            "emptyDir of medium Memory at /dev/shm";
  if (!facts.shared_free) {
    return problem(subject, "there is none: processes cannot share memory", advice);
  }
  const std::string text = fmt::format("{} free of {}", text_of(*facts.shared_free),
                                       text_of(facts.shared_total.value_or(*facts.shared_free)));
  if (*facts.shared_free < kLeastShared) {
    return problem(subject, text + ": too little for any model on several processes", advice);
  }
  if (*facts.shared_free < kWarnedShared) {
    return warning(subject, text + ": too little for larger models on the host", advice);
  }
  return ok(subject, text);
}

Finding judge_locked(const LimitFacts& facts) {
  if (!facts.locked) return ok("memlock", "unlimited");
  const std::string text = fmt::format("{} of a process", text_of(*facts.locked));
  if (*facts.locked >= kLeastLocked) return ok("memlock", text);
  return warning("memlock",
                 text + ": MPI and NCCL cannot register memory with network cards (RDMA)",
                 "for several nodes: ulimit -l unlimited, or --ulimit memlock=-1 of the container");
}

Finding judge_files(const LimitFacts& facts) {
  if (!facts.open_files) return ok("open files", "unlimited");
  const std::string text = fmt::format("{:.0f} of a process", *facts.open_files);
  if (*facts.open_files >= kLeastFiles) return ok("open files", text);
  return warning("open files", text + ": a launcher of many ranks needs more", "ulimit -n 65536");
}

std::string value_of(const Variables& variables, const char* name) {
  const auto found = variables.find(name);
  return found == variables.end() ? "" : found->second;
}

const std::string kOfVariables = "variables";

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
         "unset it; --p2p=off sends both through the host"},
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

void judge_rules(const Variables& variables, Findings& findings) {
  for (const Rule& rule : kRules) {
    const auto found = variables.find(std::string(rule.name));
    if (found == variables.end() || (rule.when_on && is_off(found->second))) continue;
    const bool is_harmless = std::ranges::any_of(rule.harmless, [&](std::string_view value) {
      return !value.empty() && found->second.find(value) != std::string::npos;
    });
    if (found->second.empty() || is_harmless) continue;
    findings.push_back({kOfVariables, rule.level,
                        fmt::format("{}={}: {}", rule.name, found->second, rule.effect),
                        std::string(rule.advice)});
  }
}

void judge_visible_gpus(const Variables& variables, Findings& findings) {
  const auto found = variables.find("CUDA_VISIBLE_DEVICES");
  if (found == variables.end()) return;
  if (found->second.empty() || found->second.starts_with("-1")) {
    findings.push_back(warning(
        kOfVariables, fmt::format("CUDA_VISIBLE_DEVICES='{}' hides all GPUs", found->second),
        "unset it to measure on GPUs"));
    return;
  }
  std::set<std::string_view> seen;
  for (const std::string_view gpu : split(found->second, ',')) {
    if (seen.insert(gpu).second) continue;
    findings.push_back(problem(
        kOfVariables, fmt::format("CUDA_VISIBLE_DEVICES={} names GPU {} twice", found->second, gpu),
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
  judge_visible_gpus(variables, findings);
  if (findings.empty()) {
    findings.push_back(ok(kOfVariables, "none that changes what CUDA, NCCL or MPI does"));
  }
  return findings;
}

MemoryFacts gather_memory(const fs::path& root) {
  const fs::path meminfo = root / "proc/meminfo";
  MemoryFacts facts;
  facts.total = kilobytes(meminfo, "MemTotal");
  facts.available = kilobytes(meminfo, "MemAvailable");
  const auto swap = kilobytes(meminfo, "SwapTotal");
  const auto free = kilobytes(meminfo, "SwapFree");
  if (swap && free) facts.swapped = *swap - *free;
  for (const fs::path& group : control_groups(root, "memory")) {
    const auto limit = either(group, "memory.max", "memory.limit_in_bytes");
    if (!limit || *limit >= kUnlimited || (facts.limit && *facts.limit <= *limit)) continue;
    facts.limit = limit;
    facts.used = used_by(group);
  }
  return facts;
}

Findings judge_memory(const MemoryFacts& facts) {
  if (!facts.available) return {not_checked("memory", "/proc/meminfo does not report it")};
  Findings findings{judge_left(facts)};
  if (facts.swapped.value_or(0) >= kWarnedSwapped) {
    findings.push_back(
        warning("swap", gib(*facts.swapped) + " are swapped out",
                "what comes back is read from disk inside a step: end what fills the "
                "memory, then swapoff -a"));
  }
  return findings;
}

LimitFacts gather_limits(const fs::path& root, const Variables& variables) {
  LimitFacts facts;
  struct statvfs shared {};
  if (::statvfs((root / "dev/shm").c_str(), &shared) == 0) {
    const auto block = static_cast<double>(shared.f_frsize);
    facts.shared_total = block * static_cast<double>(shared.f_blocks);
    facts.shared_free = block * static_cast<double>(shared.f_bavail);
  }
  facts.locked = limit_of(RLIMIT_MEMLOCK);
  facts.open_files = limit_of(RLIMIT_NOFILE);
  facts.container = container_of(root, variables);
  return facts;
}

Findings judge_limits(const LimitFacts& facts) {
  Findings findings{judge_shared(facts), judge_locked(facts), judge_files(facts)};
  if (!facts.container.empty()) {
    findings.push_back(ok("container", facts.container + ": its limits are those above"));
  }
  return findings;
}

Findings judge_slurm(const Variables& variables, int cores, bool has_gpu) {
  const std::string subject = "slurm";
  const std::string job = value_of(variables, "SLURM_JOB_ID");
  if (job.empty()) return {ok(subject, "this is no allocation of Slurm")};
  const std::string cpus = value_of(variables, "SLURM_CPUS_ON_NODE");
  const std::string gpus = value_of(variables, "SLURM_GPUS_ON_NODE");
  Findings findings{
      ok(subject, fmt::format("job {}: {} CPUs and {} GPUs of this node", job,
                              cpus.empty() ? "unknown" : cpus, gpus.empty() ? "no" : gpus))};
  const int granted = parse_number<int>(cpus).value_or(0);
  if (granted > 0 && granted < cores) {
    findings.push_back(warning(
        subject,
        fmt::format("{} cores may be used here, but the job was granted {} CPUs: others may be on "
                    "them too",
                    cores, granted),
        "ask for the whole node (--exclusive), or measure on as many devices as CPUs"));
  }
  if (has_gpu && gpus.empty() && value_of(variables, "SLURM_JOB_GPUS").empty()) {
    findings.push_back(warning(subject, "the node shows GPUs, but the job was granted none",
                               "ask for them: --gpus-per-node=N"));
  }
  return findings;
}

}  // namespace tandem::doctor
