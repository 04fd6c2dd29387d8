// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launch/launch_scratch.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>

#include "common/base/error.h"
#include "common/base/text.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSharedMemory = "/dev/shm";
constexpr std::string_view kScratchPrefix = "tandem.";

// Makes a new folder "tandem.PID.XXXXXX".
fs::path make_folder(const fs::path& parent) {
  std::string name = (parent / fmt::format("{}{}.XXXXXX", kScratchPrefix, ::getpid())).string();
  if (::mkdtemp(name.data()) == nullptr) {
    fail(ErrorKind::kFailure, "making a temporary folder in {}: {}; free some space, or set TMPDIR",
         parent.string(), std::strerror(errno));
  }
  return name;
}

fs::path temporary_folder() {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  return error ? fs::path("/tmp") : folder;
}

// The process's number in "tandem.PID.rest".
std::optional<pid_t> owner_of(std::string_view name) {
  if (!name.starts_with(kScratchPrefix)) return std::nullopt;
  const std::vector<std::string_view> parts = split(name, '.');
  const auto owner = parse_number<pid_t>(parts[1]);
  return parts.size() > 2 && owner && *owner > 0 ? owner : std::nullopt;
}

bool is_gone(pid_t process) { return ::kill(process, 0) != 0 && errno == ESRCH; }

bool is_mine(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && status.st_uid == ::geteuid();
}

}  // namespace

LaunchScratch::LaunchScratch(Kind kind) {
  remove_what_the_dead_left();
  folders_.push_back(make_folder(temporary_folder()));
  environment_.push_back("TMPDIR=" + folders_.back().string());
  if (kind != Kind::kOneNode) return;
  folders_.push_back(make_folder(kSharedMemory));
  environment_.push_back("OMPI_MCA_btl_vader_backing_directory=" + folders_.back().string());
}

LaunchScratch::~LaunchScratch() {
  std::error_code ignored;
  for (const fs::path& folder : folders_) fs::remove_all(folder, ignored);
  remove_what_the_dead_left();  // the launch's own ranks may have left files
}

void remove_what_the_dead_left(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto owner = owner_of(entry.path().filename().string());
    if (!owner || !is_gone(*owner) || !is_mine(entry.path())) continue;
    std::error_code also_ignored;  // another runner may remove the same file
    fs::remove_all(entry.path(), also_ignored);
  }
}

void remove_what_the_dead_left() {
  remove_what_the_dead_left(kSharedMemory);
  remove_what_the_dead_left(temporary_folder());
}

}  // namespace tandem::cli
