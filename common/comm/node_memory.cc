// SPDX-License-Identifier: Apache-2.0
#include "common/comm/node_memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <string>

#include "common/base/error.h"
#include "common/comm/bootstrap.h"
#include "common/comm/node_layout.h"

namespace tandem {
namespace {

using Mapping = std::shared_ptr<host::SharedMapping>;

// Rank 0 maps the memory, and the other threads copy rank 0's pointer before rank 0 goes on.
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

// Rank 0 creates the memory under a name, the other processes open that name, and rank 0 removes
// it.
Mapping map_for_processes(Bootstrap& bootstrap, Bytes size, const std::string& my_name) {
  const std::string name = broadcast(bootstrap, my_name, 0);
  const bool makes = bootstrap.rank() == 0;
  Mapping mapping;
  // A peer may be lost at any step, so the name is removed after an error as well.
  const auto error = capture_error([&] {
    attempt_together(bootstrap, [&] {
      if (makes) mapping = host::SharedMapping::create_named(name, size);
    });
    attempt_together(bootstrap, [&] {
      if (!makes) mapping = host::SharedMapping::open_named(name, size);
    });
  });
  if (makes && mapping) host::SharedMapping::unlink(name);  // also where some rank did not open it
  if (error) throw Error(*error);
  return mapping;
}

// A word of memory on each node.
Mapping map_word(Bootstrap& bootstrap) {
  const NodeLayout nodes = find_nodes(bootstrap);
  const auto node = bootstrap.split(nodes.node_of(bootstrap.rank()));
  return map_reserved_node_memory(*node, Bytes{sizeof(host::Word)});
}

}  // namespace

Mapping map_node_memory(Bootstrap& bootstrap, Bytes size) {
  static std::atomic<int> made{0};  // counts this process's mappings, so that names differ
  // The name holds the time as well: a killed process may have left its name behind, and process
  // numbers return.
  const std::string name = fmt::format("/tandem.{}.{}.{}", getpid(), made.fetch_add(1),
                                       Clock::now().time_since_epoch().count());
  return bootstrap.shares_address_space() ? map_for_threads(bootstrap, size, name)
                                          : map_for_processes(bootstrap, size, name);
}

Mapping map_reserved_node_memory(Bootstrap& bootstrap, Bytes size) {
  Mapping mapping = map_node_memory(bootstrap, size);
  attempt_together(bootstrap, [&] {
    if (bootstrap.rank() == 0) mapping->reserve(Bytes{0}, size);
  });
  return mapping;
}

AbortFlag::AbortFlag(Bootstrap& bootstrap) : mapping_(map_word(bootstrap)) {}

host::Word& AbortFlag::word() const noexcept {
  return *std::launder(reinterpret_cast<host::Word*>(mapping_->data()));
}

}  // namespace tandem
