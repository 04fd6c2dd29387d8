// SPDX-License-Identifier: Apache-2.0
#include "common/flight/stopped_ranks.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <string>

#include "common/base/capture_error.h"
#include "common/base/host_name.h"
#include "common/base/own_program.h"
#include "common/flight/flight_record.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

// The process's state, the field after the program's name; the name stands in parentheses and may
// contain parentheses itself: proc(5).
char state_of(const fs::path& process) {
  std::ifstream file(process / "stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name_end = text.rfind(") ");
  return name_end == std::string::npos || name_end + 2 >= text.size() ? '?' : text[name_end + 2];
}

// Whether a signal or a debugger has stopped the process.
bool is_stopped(int pid) {
  const char state = state_of(fmt::format("/proc/{}", pid));
  return (state == 'T' || state == 't') && runs_this_program(pid);
}

}  // namespace

std::vector<int> stopped_ranks(const fs::path& folder) noexcept {
  std::vector<int> stopped;
  static_cast<void>(capture_error([&] {
    for (const FlightRecord& record : read_flight_records(folder)) {
      if (record.host == host_name() && is_stopped(record.pid)) stopped.push_back(record.rank);
    }
  }));
  return stopped;
}

}  // namespace tandem
