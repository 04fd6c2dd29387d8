// SPDX-License-Identifier: Apache-2.0
#include "common/comm/transport_registry.h"

#include <array>

#include "common/base/error.h"
#include "common/comm/mpi_communicator.h"
#include "common/comm/nccl_module.h"
#include "common/comm/node_layout.h"
#include "common/comm/several_nodes.h"
#include "common/comm/shared_memory.h"
#include "common/comm/solo.h"
#include "common/comm/staged.h"
#include "common/comm/transport_choice.h"
#ifdef TANDEM_HAVE_GLOO
#include "common/comm/gloo_communicator.h"
#endif

namespace tandem {
namespace {

constexpr std::array kTransports{Transport::kAuto, Transport::kSharedMemory, Transport::kMpi,
                                 Transport::kGloo, Transport::kNccl};

#ifdef TANDEM_HAVE_GLOO
constexpr bool kHaveGloo = true;
#else
constexpr bool kHaveGloo = false;

std::unique_ptr<Communicator> make_gloo_communicator(Bootstrap&, Device&,
                                                     const CommunicatorOptions&) {
  fail(
      ErrorKind::kUsage,
      "this build has no gloo: install libgloo-dev (Debian, Ubuntu), configure again and build, or "
      "take another transport");
}
#endif

void refuse_several(const NodeLayout& nodes) {
  if (nodes.nodes() == 1) return;
  fail(ErrorKind::kUsage,
       "the transport shared_memory is one node's, and the ranks run on {}: take auto or mpi",
       nodes.nodes());
}

std::unique_ptr<Communicator> make_direct(Transport transport, Bootstrap& bootstrap, Device& device,
                                          const CommunicatorOptions& options) {
  if (transport == Transport::kNccl) {
    return find_nccl_module()->make_communicator(bootstrap, device, options);
  }
  const NodeLayout nodes = find_nodes(bootstrap);
  switch (transport) {
    case Transport::kAuto:
      return nodes.nodes() > 1 ? make_communicator_of_nodes(bootstrap, nodes, device, options)
                               : make_shared_memory_communicator(bootstrap, device, options);
    case Transport::kSharedMemory:
      refuse_several(nodes);
      return make_shared_memory_communicator(bootstrap, device, options);
    case Transport::kMpi:
      return make_mpi_communicator(bootstrap, device, options);
    case Transport::kGloo:
      return make_gloo_communicator(bootstrap, device, options);
    case Transport::kNccl:
      break;
  }
  return nullptr;
}

}  // namespace

Transport parse_transport(std::string_view text, std::string_view what) {
  for (const Transport transport : kTransports) {
    if (text == name_of(transport)) return transport;
  }
  fail(ErrorKind::kUsage, "{}: '{}' is no transport: use auto, shared_memory, mpi, gloo or nccl",
       what, text);
}

std::string_view name_of(Transport transport) {
  switch (transport) {
    case Transport::kAuto:
      return "auto";
    case Transport::kSharedMemory:
      return "shared_memory";
    case Transport::kMpi:
      return "mpi";
    case Transport::kGloo:
      return "gloo";
    case Transport::kNccl:
      return "nccl";
  }
  return "";
}

bool is_built_in(Transport transport) { return transport != Transport::kGloo || kHaveGloo; }

TransportChoice choose_transport(Transport asked, Bootstrap& bootstrap, Device& device) {
  return decide_transport(asked, find_rank_facts(asked, bootstrap, device));
}

std::unique_ptr<Communicator> make_communicator(const TransportChoice& choice, Bootstrap& bootstrap,
                                                Device& device,
                                                const CommunicatorOptions& options) {
  switch (choice.route) {
    case Route::kSolo:
      return make_solo_communicator(device, options);
    case Route::kStaged:
      return make_staged_communicator(
          bootstrap, device, options, [&](Device& host, const CommunicatorOptions& of_host) {
            return make_direct(choice.transport, bootstrap, host, of_host);
          });
    case Route::kDirect:
      break;
  }
  return make_direct(choice.transport, bootstrap, device, options);
}

std::unique_ptr<Communicator> make_communicator(Transport asked, Bootstrap& bootstrap,
                                                Device& device,
                                                const CommunicatorOptions& options) {
  return make_communicator(choose_transport(asked, bootstrap, device), bootstrap, device, options);
}

std::unique_ptr<Communicator> make_control_communicator(Transport asked, Bootstrap& bootstrap,
                                                        Device& device,
                                                        const CommunicatorOptions& options) {
  if (device.id().backend == Backend::kHost) {
    return make_communicator(asked, bootstrap, device, options);
  }
  const Transport between =
      bootstrap.shares_address_space() ? Transport::kSharedMemory : Transport::kMpi;
  return make_communicator(TransportChoice{between, Route::kStaged}, bootstrap, device, options);
}

}  // namespace tandem
