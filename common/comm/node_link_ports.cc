// SPDX-License-Identifier: Apache-2.0
#include "common/comm/node_link_ports.h"

#include <new>

#include "common/comm/agreement.h"
#include "common/comm/node_memory.h"

namespace tandem {

std::shared_ptr<LinkPorts> make_node_link_ports(Bootstrap& bootstrap) {
  const Bytes size{static_cast<std::int64_t>(sizeof(LinkPorts))};
  const std::shared_ptr<host::SharedMapping> mapping = map_node_memory(bootstrap, size);
  attempt_together(bootstrap, [&] {
    if (bootstrap.rank() == 0) mapping->reserve(Bytes{0}, size);
  });
  auto* const ports = std::launder(reinterpret_cast<LinkPorts*>(mapping->data()));
  return {mapping, ports};  // zeros are the ports' initial state
}

}  // namespace tandem
