// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/memory_node.h"

#include "common/runtime/host/topology.h"

namespace tandem::host {
namespace {

constexpr int kFlags = HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET;

struct BitmapDeleter {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, BitmapDeleter>;

// Sets the calling thread's policy for new pages, and restores the earlier policy on destruction.
class ScopedPolicy {
 public:
  ScopedPolicy(hwloc_topology_t topology, hwloc_const_bitmap_t nodes)
      : topology_(topology), before_(hwloc_bitmap_alloc()) {
    if (hwloc_get_membind(topology_, before_.get(), &policy_, kFlags) != 0) return;
    // hwloc reports the kernel's default policy as first touch, but setting first touch would
    // replace the default.
    if (policy_ == HWLOC_MEMBIND_FIRSTTOUCH) policy_ = HWLOC_MEMBIND_DEFAULT;
    // Without HWLOC_MEMBIND_STRICT the policy is a preference: a full node is no error.
    is_set_ = hwloc_set_membind(topology_, nodes, HWLOC_MEMBIND_BIND, kFlags) == 0;
  }
  ~ScopedPolicy() {
    if (is_set_) hwloc_set_membind(topology_, before_.get(), policy_, kFlags);
  }
  ScopedPolicy(const ScopedPolicy&) = delete;
  ScopedPolicy& operator=(const ScopedPolicy&) = delete;

 private:
  const hwloc_topology_t topology_;
  const Bitmap before_;
  hwloc_membind_policy_t policy_ = HWLOC_MEMBIND_DEFAULT;
  bool is_set_ = false;
};

}  // namespace

struct MemoryNode::Place {
  Topology topology;
  hwloc_obj_t node = nullptr;
};

MemoryNode::MemoryNode(int os_number) {
  auto place = std::make_unique<Place>();
  place->topology = load_topology();
  if (!place->topology) return;
  place->node =
      hwloc_get_numanode_obj_by_os_index(place->topology.get(), static_cast<unsigned>(os_number));
  if (place->node != nullptr) place_ = std::move(place);
}

MemoryNode::~MemoryNode() = default;

void MemoryNode::prefer_during(const std::function<void()>& allocate) const {
  if (!place_) return allocate();
  const ScopedPolicy here(place_->topology.get(), place_->node->nodeset);
  allocate();
}

}  // namespace tandem::host
