// SPDX-License-Identifier: Apache-2.0
#include "common/base/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "common/base/error.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void complain(const InputFile& file, const std::string& what) {
  fail(file.kind, "{}{}: {}", file.begins, file.path.string(), what);
}

[[noreturn]] void complain_of_size(const InputFile& file, Bytes size) {
  complain(file, fmt::format("it has {}, and at most {} are read; is it the right file?",
                             to_string(size), to_string(file.most)));
}

[[noreturn]] void complain_of_reading(const InputFile& file) {
  complain(file, fmt::format("it cannot be read ({}); check its rights", std::strerror(errno)));
}

std::string_view sort_of(fs::file_type type) {
  switch (type) {
    case fs::file_type::directory:
      return "folder";
    case fs::file_type::fifo:
      return "pipe";
    case fs::file_type::socket:
      return "socket";
    default:
      return "device";
  }
}

}  // namespace

void check_input(const InputFile& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file.path, error);
  if (status.type() == fs::file_type::not_found) {
    complain(file, "there is no such file; check the path");
  }
  if (error) complain(file, fmt::format("{}; check the path", error.message()));
  if (!fs::is_regular_file(status)) {
    complain(file, fmt::format("it is a {}; give the path of a file", sort_of(status.type())));
  }
  const std::uintmax_t size = fs::file_size(file.path, error);
  if (error) complain(file, fmt::format("{}; check the path", error.message()));
  if (size > static_cast<std::uintmax_t>(file.most.value)) {
    complain_of_size(file, Bytes{static_cast<std::int64_t>(size)});
  }
}

InputReader::InputReader(const InputFile& file) : file_(file) {
  check_input(file);
  // O_NONBLOCK, since the file may have become a pipe after the check, and opening a pipe would
  // wait.
  descriptor_ = ::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) complain_of_reading(file);
}

InputReader::~InputReader() { ::close(descriptor_); }

bool InputReader::append_to(std::string& text, std::size_t bytes) {
  const std::size_t before = text.size();
  text.resize(before + bytes);
  ssize_t count = 0;
  do {
    count = ::read(descriptor_, text.data() + before, bytes);
  } while (count < 0 && errno == EINTR);
  if (count < 0) complain_of_reading(file_);
  text.resize(before + static_cast<std::size_t>(count));
  so_far_.value += count;
  if (so_far_ > file_.most) complain_of_size(file_, so_far_);
  return count > 0;
}

std::string read_whole(const InputFile& file) {
  InputReader reader(file);
  constexpr std::size_t kPart = 1 << 20;
  std::error_code unknown;
  const std::uintmax_t size = fs::file_size(file.path, unknown);
  std::string text;
  if (!unknown) text.reserve(static_cast<std::size_t>(size) + kPart);
  while (reader.append_to(text, kPart)) {  // reads to the end, since a file of /proc has no size
  }
  return text;
}

}  // namespace tandem
