// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/shared_mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/base/error.h"

namespace tandem::host {
namespace {

constexpr const char* kFreeSharedMemory =
    "free or enlarge /dev/shm (mount -o remount,size=...), or use a smaller model";

// Throws the kernel's error code as an error of this project.
[[noreturn]] void fail_to(const char* what, Bytes size, int code, const char* advice) {
  const bool full = code == ENOSPC || code == ENOMEM;
  fail(full ? ErrorKind::kOutOfMemory : ErrorKind::kFailure, "{} of {} failed ({}): {}", what,
       to_string(size), std::strerror(code), full ? advice : "check the limits of this process");
}

}  // namespace

SharedMapping::SharedMapping(int descriptor, Bytes size) : descriptor_(descriptor), size_(size) {
  void* const address = mmap(nullptr, static_cast<std::size_t>(size.value), PROT_READ | PROT_WRITE,
                             MAP_SHARED, descriptor, 0);
  if (address == MAP_FAILED) {
    const int code = errno;
    close(descriptor);
    fail_to("mapping memory", size, code, "use a smaller model or batch");
  }
  // The advice takes effect only where the machine allows huge pages for shared memory on request.
  madvise(address, static_cast<std::size_t>(size.value), MADV_HUGEPAGE);
  data_ = static_cast<std::byte*>(address);
}

SharedMapping::~SharedMapping() {
  munmap(data_, static_cast<std::size_t>(size_.value));
  close_file();
}

void SharedMapping::close_file() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

void SharedMapping::reserve(Bytes first, Bytes count) {
  const int code = posix_fallocate(descriptor_, first.value, count.value);
  if (code != 0) fail_to("reserving shared memory in /dev/shm", count, code, kFreeSharedMemory);
}

std::unique_ptr<SharedMapping> SharedMapping::create(Bytes size) {
  TANDEM_CHECK(size.value > 0, "a mapping of {} bytes", size.value);
  const int descriptor = memfd_create("tandem", MFD_CLOEXEC);
  if (descriptor < 0)
    fail_to("making anonymous memory", size, errno, "use a smaller model or batch");
  if (ftruncate(descriptor, size.value) != 0) {
    const int code = errno;
    close(descriptor);
    fail_to("sizing anonymous memory", size, code, "use a smaller model or batch");
  }
  std::unique_ptr<SharedMapping> mapping(new SharedMapping(descriptor, size));
  mapping->close_file();  // device memory consists of many such mappings, each with a file
  return mapping;
}

std::unique_ptr<SharedMapping> SharedMapping::create_named(const std::string& name, Bytes size) {
  TANDEM_CHECK(size.value > 0, "a mapping of {} bytes", size.value);
  const int descriptor = shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) fail_to("making shared memory in /dev/shm", size, errno, kFreeSharedMemory);
  try {
    if (ftruncate(descriptor, size.value) != 0) {
      const int code = errno;
      close(descriptor);
      fail_to("sizing shared memory in /dev/shm", size, code, kFreeSharedMemory);
    }
    return std::unique_ptr<SharedMapping>(new SharedMapping(descriptor, size));
  } catch (...) {
    shm_unlink(name.c_str());
    throw;
  }
}

std::unique_ptr<SharedMapping> SharedMapping::open_named(const std::string& name, Bytes size) {
  const int descriptor = shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) fail_to("opening a peer's shared memory", size, errno, kFreeSharedMemory);
  return std::unique_ptr<SharedMapping>(new SharedMapping(descriptor, size));
}

void SharedMapping::unlink(const std::string& name) { shm_unlink(name.c_str()); }

}  // namespace tandem::host
