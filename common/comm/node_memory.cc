// SPDX-License-Identifier: Apache-2.0
#include "common/comm/node_memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "common/base/capture_error.h"
#include "common/comm/agreement.h"

namespace tandem {
namespace {

using Mapping = std::shared_ptr<host::SharedMapping>;

// Threads: rank 0 maps, the others copy its pointer while it stands still.
Mapping map_for_threads(Bootstrap& bootstrap, Bytes size, const std::string& name) {
  Mapping mapping;
  attempt_together(bootstrap, [&] {
    if (bootstrap.rank() != 0) return;
    mapping = host::SharedMapping::create_named(name, size);
    host::SharedMapping::unlink(name);
  });
  const std::string address =
      broadcast(bootstrap, std::to_string(reinterpret_cast<std::uintptr_t>(&mapping)), 0);
  if (bootstrap.rank() != 0) mapping = *reinterpret_cast<const Mapping*>(std::stoull(address));
  barrier(bootstrap);
  return mapping;
}

// Processes: rank 0 makes it under a name, the others open that, then the name goes.
Mapping map_for_processes(Bootstrap& bootstrap, Bytes size, const std::string& my_name) {
  const std::string name = broadcast(bootstrap, my_name, 0);
  const bool makes = bootstrap.rank() == 0;
  Mapping mapping;
  // A peer may be lost at any of it: whatever was made, its name goes.
  const auto error = capture_error([&] {
    attempt_together(bootstrap, [&] {
      if (makes) mapping = host::SharedMapping::create_named(name, size);
    });
    attempt_together(bootstrap, [&] {
      if (!makes) mapping = host::SharedMapping::open_named(name, size);
    });
  });
  if (makes && mapping) host::SharedMapping::unlink(name);  // whether all opened it or not
  if (error) throw Error(*error);
  return mapping;
}

}  // namespace

Mapping map_node_memory(Bootstrap& bootstrap, Bytes size) {
  static std::atomic<int> made{0};  // of this process, so that names differ
  // The time as well: a process that was killed may have left its name, and process numbers return.
  const std::string name = fmt::format("/tandem.{}.{}.{}", getpid(), made.fetch_add(1),
                                       Clock::now().time_since_epoch().count());
  return bootstrap.shares_address_space() ? map_for_threads(bootstrap, size, name)
                                          : map_for_processes(bootstrap, size, name);
}

}  // namespace tandem
