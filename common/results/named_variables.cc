// SPDX-License-Identifier: Apache-2.0
#include "common/results/named_variables.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace tandem::results {
namespace {

constexpr std::array<std::string_view, 4> kPrefixes{"NCCL_", "OMPI_MCA_", "OMP_", "CUDA_"};
// What decides where a launch ran, and two that are removed before one: they show where that
// failed.
constexpr std::array<std::string_view, 3> kNames{"OMPI_COMM_WORLD_SIZE", "OPENBLAS_CORETYPE",
                                                 "DNNL_MAX_CPU_ISA"};
// Not settings: what mpirun tells its ranks of itself, with addresses and a key of the session.
constexpr std::array<std::string_view, 2> kSession{"OMPI_MCA_orte_", "OMPI_MCA_ess"};
constexpr std::array<std::string_view, 8> kSecretWords{
    "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "APIKEY", "API_KEY", "ACCESS_KEY", "PRIVATE"};

template <class Prefixes>
bool starts_with_any(std::string_view name, const Prefixes& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_named(std::string_view name) {
  if (starts_with_any(name, kSession)) return false;
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         starts_with_any(name, kPrefixes);
}

bool has_credentials(std::string_view value) {
  const std::size_t scheme = value.find("://");
  return scheme != std::string_view::npos && value.find('@', scheme) != std::string_view::npos;
}

// A word of 20 or more letters and digits of all three kinds in a mix that names, paths and numbers
// do not have.
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
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return std::any_of(
             kSecretWords.begin(), kSecretWords.end(),
             [&](std::string_view word) { return upper.find(word) != std::string::npos; }) ||
         has_credentials(value) || has_random_word(value);
}

std::map<std::string, std::string> named_variables(const char* const* environment) {
  std::map<std::string, std::string> found;
  for (; *environment != nullptr; ++environment) {
    const std::string_view variable(*environment);
    const std::size_t equals = variable.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = variable.substr(0, equals);
    const std::string_view value = variable.substr(equals + 1);
    if (!is_named(name)) continue;
    found[std::string(name)] = looks_secret(name, value) ? "(redacted)" : std::string(value);
  }
  return found;
}

}  // namespace tandem::results
