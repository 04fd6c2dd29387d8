// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/pretend/torch_wheel.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "common/base/error.h"
#include "common/base/text.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/program_paths.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;

// One fact a line, as "key value". torch/version.py is a few assignments.
constexpr std::string_view kQuestion = R"(
import importlib.metadata as m, importlib.util as u, os, runpy
print("python yes")
s = u.find_spec("torch")
if s and s.origin:
    f = os.path.dirname(s.origin)
    v = runpy.run_path(os.path.join(f, "version.py"))
    print("folder", f)
    print("version", v["__version__"])
    print("cuda", v.get("cuda") or "")
    for d in m.distributions():
        n = d.metadata["Name"] or ""
        if n.startswith("nvidia-"):
            print("package", n, d.version)
)";

void take_line(TorchWheel& wheel, std::string_view line) {
  const std::vector<std::string_view> words = split(line, ' ');
  const std::string_view value = trimmed(line.substr(words[0].size()));
  if (words[0] == "folder") wheel.folder = value;
  if (words[0] == "version") wheel.version = value;
  if (words[0] == "cuda") wheel.cuda = value;
  if (words[0] == "package" && words.size() == 3) wheel.packages.emplace(words[1], words[2]);
}

int number(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The first three numbers of "9.26.0.51".
std::array<int, 3> numbers(std::string_view version) {
  std::array<int, 3> found{};
  std::size_t at = 0;
  for (const std::string_view part : split(version, '.')) {
    if (at < found.size()) found[at++] = number(part);
  }
  return found;
}

// The version of nvidia-cudnn-cu13 for "nvidia-cudnn", also where the name has no CUDA version.
std::string_view package_version(const TorchWheel& wheel, std::string_view name) {
  for (const auto& [package, version] : wheel.packages) {
    if (package == name || package.starts_with(fmt::format("{}-cu", name))) return version;
  }
  return {};
}

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

bool is_python_name(const std::string& path) {
  return fs::path(path).filename().string().starts_with("python");
}

// The file that exec would run; empty where there is none.
fs::path in_path(const std::string& program) {
  if (program.find('/') != std::string::npos)
    return is_program(program) ? fs::path(program) : fs::path{};
  const char* const folders = std::getenv("PATH");
  for (const std::string_view folder : split(folders == nullptr ? "" : folders, ':')) {
    const fs::path path = fs::path(folder) / program;
    if (!folder.empty() && is_program(path)) return path;
  }
  return {};
}

}  // namespace

TorchWheel parse_torch_wheel(const std::string& python, std::string_view answer) {
  TorchWheel wheel{.python = python, .version = {}, .cuda = {}};
  for (const std::string_view line : split(answer, '\n')) take_line(wheel, line);
  if (!answer.starts_with("python yes")) {
    fail(ErrorKind::kUsage, "looking for torch: {} is no Python that runs; name one with --python",
         python);
  }
  if (wheel.version.empty()) {
    fail(ErrorKind::kUsage,
         "looking for torch: {} has none; install one there: {} -m pip install torch", python,
         python);
  }
  return wheel;
}

TorchWheel find_torch_wheel(const std::string& python) {
  return parse_torch_wheel(python,
                           output_of(fmt::format("{} -B -c {} 2>/dev/null", shell_word(python),
                                                 shell_word(trimmed(kQuestion)))));
}

int cuda_major(const TorchWheel& wheel) { return numbers(wheel.cuda)[0]; }

std::string library_versions(const TorchWheel& wheel) {
  const auto cuda = numbers(wheel.cuda);
  std::string text = fmt::format("runtime={}", cuda[0] * 1000 + cuda[1] * 10);
  const auto add = [&](std::string_view key, std::string_view package, int major_step) {
    const std::string_view version = package_version(wheel, package);
    if (version.empty()) return;
    const auto [major, minor, patch] = numbers(version);
    text += fmt::format(",{}={}", key, major * major_step + minor * 100 + patch);
  };
  add("blas", "nvidia-cublas", 10'000);
  add("dnn", "nvidia-cudnn", 10'000);
  add("nccl", "nvidia-nccl", 10'000);
  return text;
}

std::string python_of(const std::string& program) {
  const fs::path path = in_path(program);
  if (path.empty()) {
    fail(ErrorKind::kUsage, "running {}: there is no such program; check the command behind --",
         program);
  }
  if (is_python_name(program)) return program;
  const std::string line = first_line(path);
  if (line.starts_with("#!")) {
    const std::string interpreter(trimmed(line.substr(2)));
    for (const std::string_view word : split(interpreter, ' ')) {
      if (is_python_name(std::string(word))) return std::string(word);
    }
  }
  fail(ErrorKind::kUsage,
       "running {}: the Python behind it is not known; name the one that has torch with --python",
       program);
}

}  // namespace tandem::cli
