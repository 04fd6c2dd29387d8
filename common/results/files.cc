// SPDX-License-Identifier: Apache-2.0
#include "common/results/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/noncopyable.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "common/base/error.h"

namespace tandem::results {
namespace {

namespace fs = std::filesystem;
using Write = std::function<void(const TextSink&)>;

std::string_view remedy(int reason) {
  switch (reason) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "free some space";
    case EROFS:
    case EACCES:
    case EPERM:
      return "choose a folder that can be written to";
    case ENOENT:
      return "make its folder first";
    default:
      return "choose another place";
  }
}

[[noreturn]] void fail_writing(const fs::path& path, int reason = errno) {
  fail(ErrorKind::kFailure, "writing {}: {}; {}", path.string(), std::strerror(reason),
       remedy(reason));
}

class Descriptor : boost::noncopyable {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

// The path behind all links, also where the target does not exist yet.
fs::path behind_links(const fs::path& path) {
  constexpr int kMostLinks = 40;  // the kernel's own limit
  fs::path found = path;
  std::error_code error;
  for (int links = 0; fs::is_symlink(fs::symlink_status(found, error)); ++links) {
    if (links == kMostLinks) fail_writing(path, ELOOP);
    const fs::path target = fs::read_symlink(found, error);
    if (error) fail_writing(path, error.value());
    found = found.parent_path() / target;
  }
  return found;
}

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// The descriptor to write in place, where a new file cannot be renamed over the path: a device, a
// pipe, or a file that is this process's own output under any name, since later output would go on
// into the old file.
std::optional<Descriptor> opened_in_place(const fs::path& path) {
  struct stat there {};
  if (::stat(path.c_str(), &there) != 0 || S_ISDIR(there.st_mode)) return std::nullopt;
  for (const int own : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat output {};
    if (::fstat(own, &output) != 0 || !is_same(there, output)) continue;
    std::fflush(own == STDOUT_FILENO ? stdout : stderr);
    return std::optional<Descriptor>(std::in_place, ::dup(own));
  }
  if (S_ISREG(there.st_mode)) return std::nullopt;
  return std::optional<Descriptor>(std::in_place, ::open(path.c_str(), O_WRONLY | O_CLOEXEC));
}

// Writes all of the text into `file` and syncs the file, or leaves no such file; errors name
// `shown`.
void write_synced(const fs::path& file, const fs::path& shown, const Write& write) {
  Descriptor to(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (to.number() < 0) fail_writing(shown);
  try {
    write([&](std::string_view part) { write_all(to.number(), part, shown); });
    if (::fsync(to.number()) != 0 || !to.close()) fail_writing(shown);
  } catch (...) {
    ::unlink(file.c_str());
    throw;
  }
}

}  // namespace

InputFile results_file(const std::filesystem::path& path) {
  // The limit is ten times the results of 10,000 cells with 6 launches each, the most that Tandem
  // is made for.
  return {.path = path, .begins = "reading ", .most = gib(4), .kind = ErrorKind::kFailure};
}

std::string read_file(const std::filesystem::path& path) { return read_whole(results_file(path)); }

void write_all(int descriptor, std::string_view text, const std::filesystem::path& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_writing(path);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void replace_file(const std::filesystem::path& path, std::string_view text) {
  replace_file(path, [text](const TextSink& sink) { sink(text); });
}

void replace_file(const std::filesystem::path& path,
                  const std::function<void(const TextSink&)>& write) {
  if (auto in_place = opened_in_place(path)) {
    if (in_place->number() < 0) fail_writing(path);
    write([&](std::string_view part) { write_all(in_place->number(), part, path); });
    if (!in_place->close()) fail_writing(path);
    return;
  }
  const fs::path target = behind_links(path);
  fs::path beside = target;
  beside += ".part";
  write_synced(beside, path, write);
  if (std::rename(beside.c_str(), target.c_str()) == 0) return;
  const int reason = errno;
  ::unlink(beside.c_str());
  fail_writing(path, reason);
}

void check_folder_takes_files(const std::filesystem::path& folder) {
  const fs::path probe = folder / ".writable";
  write_synced(probe, folder, [](const TextSink& sink) { sink("tandem\n"); });
  ::unlink(probe.c_str());
}

bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  struct stat first {};
  struct stat second {};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         is_same(first, second);
}

void check_is_no_input(const std::filesystem::path& output, std::string_view option,
                       const std::vector<std::filesystem::path>& inputs) {
  for (const fs::path& input : inputs) {
    if (!is_same_file(output, input)) continue;
    fail(ErrorKind::kUsage, "{}: {} is what is read, and would be overwritten: choose another",
         option, output.string());
  }
}

void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) fail_writing(path, error.value());
}

void remove_all(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) fail_writing(path, error.value());
}

}  // namespace tandem::results
