// SPDX-License-Identifier: Apache-2.0
#include "pretend/nccl/meeting_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "pretend/core/settings.h"

namespace tandem::pretend {
namespace {

constexpr const char* kFolder = "/dev/shm/";
constexpr std::string_view kPrefix = "tandem-pretended-";

// Bytes of the file that stand for what is locked.
enum class Lock : off_t { kMaking, kInUse };

// Locks belong to the opened file, so threads hold theirs apart and the system frees them.
bool change_lock(int file, Lock what, short kind, int command) {
  struct flock lock {};
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(what);
  lock.l_len = 1;
  int failed = fcntl(file, command, &lock);
  while (failed != 0 && errno == EINTR) failed = fcntl(file, command, &lock);
  return failed == 0;
}

bool has_name(int file) {
  struct stat facts {};
  return fstat(file, &facts) == 0 && facts.st_nlink > 0;
}

int close_and_fail(int file) {
  const int error = errno;
  close(file);
  errno = error;
  return -1;
}

// Another job may take the file for left behind between its making and its lock: then once more.
int open_held(const std::string& path) {
  for (;;) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return file;
    if (!change_lock(file, Lock::kInUse, F_RDLCK, F_OFD_SETLKW)) return close_and_fail(file);
    if (has_name(file)) return file;
    close(file);
  }
}

// The rank that finds the file short makes it long. Pages that the file system promises now cannot
// be missing at the first touch. Returns an error's number.
int make_long(int file, uint64_t bytes) {
  if (!change_lock(file, Lock::kMaking, F_WRLCK, F_OFD_SETLKW)) return errno;
  struct stat facts {};
  const bool is_long = fstat(file, &facts) == 0 && static_cast<uint64_t>(facts.st_size) >= bytes;
  const int error = is_long ? 0 : posix_fallocate(file, 0, static_cast<off_t>(bytes));
  change_lock(file, Lock::kMaking, F_UNLCK, F_OFD_SETLK);
  return error;
}

// Only who holds the file unlinks it, so a name that it has here stays its own.
void remove_if_left_behind(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return;
  if (change_lock(file, Lock::kInUse, F_WRLCK, F_OFD_SETLK) && has_name(file)) {
    ::unlink(path.c_str());
  }
  close(file);
}

void remove_left_behind() {
  DIR* const folder = opendir(kFolder);
  if (folder == nullptr) return;
  while (const dirent* const entry = readdir(folder)) {
    if (std::string_view(entry->d_name).starts_with(kPrefix)) {
      remove_if_left_behind(std::string(kFolder) + entry->d_name);
    }
  }
  closedir(folder);
}

}  // namespace

MeetingFile::MeetingFile(const std::string& name, uint64_t bytes)
    : path_(kFolder + name), bytes_(bytes), file_(open_held(path_)) {
  error_ = file_ < 0 ? errno : make_long(file_, bytes);
  if (error_ == 0) map();
}

void MeetingFile::map() {
  void* const mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (mapped == MAP_FAILED) {
    error_ = errno;
  } else {
    memory_ = mapped;
  }
}

MeetingFile::~MeetingFile() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
  if (file_ >= 0) close(file_);
}

void MeetingFile::unlink() const { ::unlink(path_.c_str()); }

std::string new_meeting_name() {
  remove_left_behind();
  std::array<unsigned char, 8> random{};
  if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count() ^ getpid();
    std::memcpy(random.data(), &now, random.size());
  }
  const char* const job = std::getenv(kCheckVariable);
  std::string name = job == nullptr ? std::string(kPrefix) : std::string(job) + '-';
  for (const unsigned char byte : random) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", byte);
    name += digits.data();
  }
  return name;
}

}  // namespace tandem::pretend
