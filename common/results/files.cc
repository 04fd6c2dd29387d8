// SPDX-License-Identifier: Apache-2.0
#include "common/results/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "common/base/error.h"

namespace tandem::results {
namespace {

[[noreturn]] void fail_writing(const std::filesystem::path& path, int reason = errno) {
  fail(ErrorKind::kFailure, "writing {}: {}; free some space or choose another place",
       path.string(), std::strerror(reason));
}

}  // namespace

InputFile results_file(const std::filesystem::path& path) {
  // Ten times 10,000 cells of 6 launches each, the most that Tandem is made for.
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
  std::filesystem::path beside = path;
  beside += ".part";
  const int descriptor = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) fail_writing(beside);
  try {
    write([&](std::string_view part) { write_all(descriptor, part, beside); });
  } catch (...) {
    ::close(descriptor);
    ::unlink(beside.c_str());
    throw;
  }
  const bool synced = ::fsync(descriptor) == 0;
  const bool closed = ::close(descriptor) == 0;
  if (synced && closed && std::rename(beside.c_str(), path.c_str()) == 0) return;
  const int reason = errno;
  ::unlink(beside.c_str());
  fail_writing(path, reason);
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
