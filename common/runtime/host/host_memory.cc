// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/host_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#include "common/base/error.h"
#include "common/base/system_files.h"
#include "common/runtime/host/host_device.h"

namespace tandem::host {

std::unique_ptr<Buffer> allocate_host_memory(Bytes size) {
  const Bytes left = available_memory();
  if (size > left) {
    fail(ErrorKind::kOutOfMemory,
         "the host is out of memory: {} asked, {} left; use a smaller batch", to_string(size),
         to_string(left));
  }
  const std::shared_ptr<SharedMapping> mapping = SharedMapping::create(std::max(size, Bytes{1}));
  const DeviceId host{Backend::kHost, DeviceId::kHostMemory};
  return std::make_unique<HostBuffer>(ByteSpan(mapping->data(), size.value, host), mapping,
                                      nullptr);
}

namespace {

constexpr Bytes kUnlimited{std::numeric_limits<std::int64_t>::max()};

Bytes machine_available() {
  const auto kibibytes = number_of("/proc/meminfo", "MemAvailable");
  return kibibytes ? kib(static_cast<std::int64_t>(*kibibytes)) : kUnlimited;
}

std::string own_cgroup() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::")) return "/sys/fs/cgroup" + line.substr(3);
  }
  return "/sys/fs/cgroup";
}

Bytes cgroup_available() {
  const std::string folder = own_cgroup();
  const auto limit = number_in(folder + "/memory.max");
  const auto used = number_in(folder + "/memory.current");
  if (!limit || !used) return kUnlimited;
  return Bytes{static_cast<std::int64_t>(std::max(0.0, *limit - *used))};
}

}  // namespace

Bytes available_memory() { return std::min(machine_available(), cgroup_available()); }

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
