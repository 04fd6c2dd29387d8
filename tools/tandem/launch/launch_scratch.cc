// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launch/launch_scratch.h"

#include <fcntl.h>
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

// Open MPI's processes share some files of 4 MiB each, and wait for one another for ever if a file
// cannot be made. A file system that cannot say so in advance is left to the launch.
void check_room(const fs::path& folder) {
  constexpr off_t kNeeded = 16 << 20;
  const fs::path file = folder / "room";
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const int reason = descriptor >= 0 && ::fallocate(descriptor, 0, 0, kNeeded) == 0 ? 0 : errno;
  if (descriptor >= 0) ::close(descriptor);
  ::unlink(file.c_str());
  if (reason != ENOSPC && reason != EDQUOT) return;
  fail(ErrorKind::kFailure,
       "no space left in TMPDIR={}, of which a launch needs {} MiB: free some, or set TMPDIR to "
       "another folder, and run the same command again",
       folder.parent_path().string(), kNeeded >> 20);
}

bool is_mine(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && status.st_uid == ::geteuid();
}

}  // namespace

TemporaryFolder::TemporaryFolder(const fs::path& parent) {
  const fs::path folder = parent.empty() ? temporary_folder() : parent;
  std::string name = (folder / fmt::format("{}{}.XXXXXX", kScratchPrefix, ::getpid())).string();
  if (::mkdtemp(name.data()) == nullptr) {
    fail(ErrorKind::kFailure, "making a temporary folder in {}: {}; free some space, or set TMPDIR",
         folder.string(), std::strerror(errno));
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

LaunchScratch::LaunchScratch(Kind kind) {
  remove_what_the_dead_left();  // they may have filled the disk
  files_.emplace();
  environment_.push_back("TMPDIR=" + files_->path().string());
  if (kind == Kind::kProcess) return;
  check_room(files_->path());
  if (kind != Kind::kOneNode) return;
  shared_.emplace(kSharedMemory);
  environment_.push_back("OMPI_MCA_btl_vader_backing_directory=" + shared_->path().string());
}

// The launch's own ranks may have left files.
LaunchScratch::~LaunchScratch() { remove_what_the_dead_left(); }

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
