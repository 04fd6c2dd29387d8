// SPDX-License-Identifier: Apache-2.0
#include "common/base/input_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

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

// Closed where this ends.
class Descriptor {
 public:
  // Not to wait, should the file have become a pipe since it was looked at.
  explicit Descriptor(const InputFile& file)
      : descriptor_(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor_ < 0) complain_of_reading(file);
  }
  ~Descriptor() { ::close(descriptor_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  // Bytes read, 0 at the end.
  std::size_t read(const InputFile& file, char* to, std::size_t most) const {
    for (;;) {
      const ssize_t count = ::read(descriptor_, to, most);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) complain_of_reading(file);
    }
  }

 private:
  int descriptor_;
};

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

std::string read_whole(const InputFile& file) {
  check_input(file);
  const Descriptor descriptor(file);
  constexpr std::size_t kPart = 1 << 20;
  std::error_code unknown;
  const std::uintmax_t size = fs::file_size(file.path, unknown);
  std::string text;
  if (!unknown) text.reserve(static_cast<std::size_t>(size) + kPart);
  for (;;) {  // to the end, wherever it is: a file of /proc has no size
    const std::size_t before = text.size();
    text.resize(before + kPart);
    text.resize(before + descriptor.read(file, text.data() + before, kPart));
    if (text.size() == before) return text;
    const Bytes so_far{static_cast<std::int64_t>(text.size())};
    if (so_far > file.most) complain_of_size(file, so_far);
  }
}

}  // namespace tandem
