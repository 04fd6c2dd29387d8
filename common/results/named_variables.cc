// SPDX-License-Identifier: Apache-2.0
#include "common/results/named_variables.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace tandem::results {
namespace {

// PRTE_MCA_ are the settings of the launcher of Open MPI 5.
constexpr std::array<std::string_view, 5> kPrefixes{"NCCL_", "OMPI_MCA_", "PRTE_MCA_", "OMP_",
                                                    "CUDA_"};
// Two variables that are removed before a launch; an entry in the record shows that the removal
// failed.
constexpr std::array<std::string_view, 2> kNames{"OPENBLAS_CORETYPE", "DNNL_MAX_CPU_ISA"};
// Variables that are no settings of the user's: mpirun sets some for its ranks, with addresses and
// a key of the session, and Tandem sets others for a launch, over the user's. The values differ
// from launch to launch, so two runs of one machine would differ by which launch came first. The
// list is the same in tools/torch/twin/record.py.
constexpr std::array<std::string_view, 19> kOfLaunches{"OMPI_MCA_orte_",
                                                       "OMPI_MCA_ess",
                                                       "OMPI_MCA_pmix",
                                                       "OMPI_MCA_initial_wdir",
                                                       "OMPI_MCA_mpi_oversubscribe",
                                                       "OMPI_MCA_shmem_RUNTIME_QUERY_hint",
                                                       "OMPI_MCA_btl_vader_backing_directory",
                                                       "OMPI_MCA_hwloc_base_binding_policy",
                                                       "OMPI_MCA_rmaps_base_mapping_policy",
                                                       "OMPI_MCA_rmaps_base_oversubscribe",
                                                       "OMPI_MCA_oob_tcp_keepalive_",
                                                       "OMPI_MCA_btl_sm_backing_directory",
                                                       "OMPI_MCA_PREFIXES",
                                                       "OMPI_MCA_cpu_type",
                                                       "OMPI_MCA_mca_base_component_path",
                                                       "OMPI_MCA_num_procs",
                                                       "PRTE_MCA_oob_tcp_keepalive_",
                                                       "PRTE_MCA_rmaps_default_mapping_policy",
                                                       "PRTE_MCA_hwloc_default_binding_policy"};
// The transport within a node, which Tandem chooses.
constexpr std::string_view kTransport = "OMPI_MCA_btl=vader,self";
constexpr std::array<std::string_view, 8> kSecretWords{
    "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "APIKEY", "API_KEY", "ACCESS_KEY", "PRIVATE"};

template <class Prefixes>
bool starts_with_any(std::string_view name, const Prefixes& prefixes) {
  return std::ranges::any_of(prefixes,
                             [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_named(std::string_view name) {
  return std::ranges::find(kNames, name) != kNames.end() || starts_with_any(name, kPrefixes);
}

bool is_of_launch(std::string_view variable) {
  return variable == kTransport || starts_with_any(variable, kOfLaunches);
}

bool has_credentials(std::string_view value) {
  const std::size_t scheme = value.find("://");
  return scheme != std::string_view::npos && value.find('@', scheme) != std::string_view::npos;
}

// The prefix of a well-known kind of key, and the least number of characters after the prefix.
struct KeyShape {
  std::string_view begins;
  std::size_t least;
};
constexpr std::array<KeyShape, 14> kKeyShapes{{{"AKIA", 16},
                                               {"ASIA", 16},
                                               {"ghp_", 16},
                                               {"gho_", 16},
                                               {"ghu_", 16},
                                               {"ghs_", 16},
                                               {"ghr_", 16},
                                               {"github_pat_", 16},
                                               {"glpat-", 16},
                                               {"hf_", 16},
                                               {"sk-", 16},
                                               {"xox", 10},
                                               {"AIza", 20},
                                               {"eyJ", 10}}};

bool is_key_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

// Looks for the shape at the beginning of a word, so that disk-... does not count as sk-...
bool has_key_shape(std::string_view value, const KeyShape& shape) {
  for (std::size_t at = value.find(shape.begins); at != std::string_view::npos;
       at = value.find(shape.begins, at + 1)) {
    if (at > 0 && is_key_character(value[at - 1])) continue;
    const std::string_view rest = value.substr(at + shape.begins.size());
    const auto end = std::ranges::find_if_not(rest, is_key_character);
    if (static_cast<std::size_t>(end - rest.begin()) >= shape.least) return true;
  }
  return false;
}

bool has_known_key(std::string_view value) {
  return std::ranges::any_of(kKeyShapes,
                             [&](const KeyShape& shape) { return has_key_shape(value, shape); });
}

// Whether the value has a word of 20 or more letters and digits, mixing upper case, lower case and
// digits as names, paths and numbers do not.
bool has_random_word(std::string_view value) {
  constexpr int kLong = 20;
  int length = 0;
  int lower = 0;
  int upper = 0;
  int digits = 0;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) == 0 && c != '+' && c != '=') {
      length = lower = upper = digits = 0;
      continue;
    }
    ++length;
    lower += std::islower(byte) != 0 ? 1 : 0;
    upper += std::isupper(byte) != 0 ? 1 : 0;
    digits += std::isdigit(byte) != 0 ? 1 : 0;
    if (length >= kLong && lower > 1 && upper > 1 && digits > 1) return true;
  }
  return false;
}

}  // namespace

bool looks_secret(std::string_view name, std::string_view value) {
  std::string upper(name);
  std::ranges::transform(upper, upper.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return std::ranges::any_of(
             kSecretWords,
             [&](std::string_view word) { return upper.find(word) != std::string::npos; }) ||
         has_credentials(value) || has_known_key(value) || has_random_word(value);
}

std::map<std::string, std::string> named_variables(const char* const* environment) {
  std::map<std::string, std::string> found;
  for (; *environment != nullptr; ++environment) {
    const std::string_view variable(*environment);
    const std::size_t equals = variable.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = variable.substr(0, equals);
    const std::string_view value = variable.substr(equals + 1);
    if (!is_named(name) || is_of_launch(variable)) continue;
    found[std::string(name)] = looks_secret(name, value) ? "(redacted)" : std::string(value);
  }
  return found;
}

}  // namespace tandem::results
