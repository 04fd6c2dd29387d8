// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/tsan.h"

#if defined(__SANITIZE_THREAD__)

#include <cstdint>

extern "C" {  // declared as GCC declares its built-ins of these names, with a signed size
void __tsan_read_range(void* address, long size);   // NOLINT(bugprone-reserved-identifier)
void __tsan_write_range(void* address, long size);  // NOLINT(bugprone-reserved-identifier)
}

namespace tandem::host {
namespace {

constexpr std::uintptr_t kPage = 4096;
constexpr std::uintptr_t kWholeUpTo = 16 * kPage;

void report(std::uintptr_t from, std::uintptr_t to, Access::Mode mode) {
  if (to <= from) return;
  auto* const address = reinterpret_cast<void*>(from);
  const auto size = static_cast<long>(to - from);
  if (mode == Access::Mode::kRead) {
    __tsan_read_range(address, size);
  } else {
    __tsan_write_range(address, size);
  }
}

}  // namespace

// Reports whole head and tail pages of large ranges and one byte of each page between: two ranges
// that overlap by a page or more then share a reported byte, whatever their starts.
void report_access(const Access& access) {
  const auto from = reinterpret_cast<std::uintptr_t>(access.address);
  const std::uintptr_t to = from + static_cast<std::uintptr_t>(access.size.value);
  if (to - from <= kWholeUpTo) return report(from, to, access.mode);
  const std::uintptr_t first_page = (from + kPage - 1) / kPage * kPage;
  const std::uintptr_t last_page = to / kPage * kPage;
  report(from, first_page, access.mode);
  for (std::uintptr_t page = first_page; page < last_page; page += kPage) {
    report(page, page + 1, access.mode);
  }
  report(last_page, to, access.mode);
}

bool reports_accesses() { return true; }

}  // namespace tandem::host

#else

namespace tandem::host {
void report_access(const Access&) {}
bool reports_accesses() { return false; }
}  // namespace tandem::host

#endif
