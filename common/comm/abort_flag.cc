// SPDX-License-Identifier: Apache-2.0
#include "common/comm/abort_flag.h"

#include <new>

#include "common/comm/agreement.h"
#include "common/comm/node_layout.h"
#include "common/comm/node_memory.h"

namespace tandem {
namespace {

std::shared_ptr<host::SharedMapping> map_word(Bootstrap& bootstrap) {
  const NodeLayout nodes = find_nodes(bootstrap);
  const auto node = bootstrap.split(nodes.node_of(bootstrap.rank()));
  const Bytes size{static_cast<std::int64_t>(sizeof(host::Word))};
  auto mapping = map_node_memory(*node, size);
  attempt_together(*node, [&] {
    if (node->rank() == 0) mapping->reserve(Bytes{0}, size);
  });
  return mapping;
}

}  // namespace

AbortFlag::AbortFlag(Bootstrap& bootstrap) : mapping_(map_word(bootstrap)) {}

host::Word& AbortFlag::word() const noexcept {
  return *std::launder(reinterpret_cast<host::Word*>(mapping_->data()));
}

}  // namespace tandem
