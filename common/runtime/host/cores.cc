// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/cores.h"

#include <fmt/ranges.h>
#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/noncopyable.hpp>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <thread>

#include "common/base/error.h"
#include "common/base/system_files.h"
#include "common/base/units.h"

namespace tandem::host {

namespace {

// hwloc's view of the machine.
struct TopologyDeleter {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, TopologyDeleter>;

// Loads hwloc's topology; absent where the machine does not report it.
Topology load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  Topology topology(raw);
  if (hwloc_topology_load(raw) != 0) return nullptr;
  return topology;
}

namespace fs = std::filesystem;

constexpr int kThisThread = 0;

// Binds a thread to `cpus`; false where the kernel refuses.
bool set_affinity(int thread, const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  return sched_setaffinity(thread, sizeof set, &set) == 0;
}

[[noreturn]] void fail_to_bind(const std::vector<int>& cpus) {
  fail(ErrorKind::kFailure,
       "binding threads to CPUs {} failed ({}): give this job those CPUs, or pass --bind=none",
       fmt::join(cpus, ","), std::strerror(errno));
}

bool is_in(hwloc_const_bitmap_t set, int cpu) {
  return hwloc_bitmap_isset(set, static_cast<unsigned>(cpu)) != 0;
}

// The OS numbers of this process's threads.
std::set<int> own_threads() {
  std::set<int> threads;
  std::error_code ignored;  // without /proc only the calling thread is bound
  for (fs::directory_iterator it("/proc/self/task", ignored), end; !ignored && it != end;
       it.increment(ignored)) {
    threads.insert(std::stoi(it->path().filename().string()));
  }
  return threads;
}

}  // namespace

std::vector<Core> whole_cores(const std::vector<int>& cpus) {
  std::vector<Core> cores;
  const Topology topology = load_topology();
  hwloc_obj_t object = nullptr;
  while (topology &&
         (object = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_CORE, object)) != nullptr) {
    Core core;
    for (const int cpu : cpus) {
      if (is_in(object->cpuset, cpu)) core.push_back(cpu);
    }
    if (!core.empty()) cores.push_back(std::move(core));
  }
  if (!cores.empty()) return cores;
  for (const int cpu : cpus) cores.push_back({cpu});  // the machine does not report its cores
  return cores;
}

std::vector<int> allowed_cores() {
  std::vector<int> first;
  for (const Core& core : whole_cores(allowed_cpus())) first.push_back(core.front());
  return first;
}

std::vector<int> numa_nodes_of(const std::vector<int>& cpus) {
  std::vector<int> nodes;
  const Topology topology = load_topology();
  hwloc_obj_t node = nullptr;
  while (topology &&
         (node = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    const bool has_one =
        std::any_of(cpus.begin(), cpus.end(), [node](int cpu) { return is_in(node->cpuset, cpu); });
    if (has_one) nodes.push_back(static_cast<int>(node->os_index));
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

void bind_this_thread(int core) {
  if (set_affinity(kThisThread, {core})) return;
  fail(ErrorKind::kFailure,
       "binding a thread to core {} failed ({}): give this job that core, or fewer devices", core,
       std::strerror(errno));
}

void bind_this_thread(const std::vector<int>& cpus) {
  if (!set_affinity(kThisThread, cpus)) fail_to_bind(cpus);
}

void bind_this_process(const std::vector<int>& cpus) {
  bind_this_thread(cpus);
  // Repeats until no thread is new: a thread that was not bound yet may have started another one.
  for (std::set<int> bound, all = own_threads(); bound != all; all = own_threads()) {
    for (const int thread : all) {
      // ESRCH: the thread has ended.
      if (!set_affinity(thread, cpus) && errno != ESRCH) fail_to_bind(cpus);
    }
    bound = all;
  }
}

ScopedBinding::ScopedBinding(int core) : before_(allowed_cpus()) { bind_this_thread(core); }

ScopedBinding::~ScopedBinding() { set_affinity(kThisThread, before_); }

namespace {

using Indices = std::vector<std::size_t>;

bool is_near(const Core& core, const std::vector<int>& near) {
  return std::any_of(core.begin(), core.end(), [&near](int thread) {
    return std::find(near.begin(), near.end(), thread) != near.end();
  });
}

// Per device and core, whether the core serves the device.
std::vector<std::vector<bool>> services(const std::vector<Core>& cores,
                                        const std::vector<std::vector<int>>& near) {
  std::vector<std::vector<bool>> serves;
  for (const std::vector<int>& of_device : near) {
    std::vector<bool> by_core;
    for (const Core& core : cores) by_core.push_back(is_near(core, of_device));
    const bool none = std::find(by_core.begin(), by_core.end(), true) == by_core.end();
    serves.push_back(none ? std::vector<bool>(cores.size(), true) : by_core);
  }
  return serves;
}

// The cores grouped by the set of devices that the cores serve.
std::map<Indices, Indices> grouped(const std::vector<std::vector<bool>>& serves,
                                   std::size_t cores) {
  std::map<Indices, Indices> groups;
  for (std::size_t core = 0; core < cores; ++core) {
    Indices devices;
    for (std::size_t device = 0; device < serves.size(); ++device) {
      if (serves[device][core]) devices.push_back(device);
    }
    groups[devices].push_back(core);
  }
  return groups;
}

}  // namespace

std::vector<std::vector<int>> share_cores(const std::vector<Core>& cores,
                                          const std::vector<std::vector<int>>& near) {
  TANDEM_CHECK(!cores.empty(), "no cores for {} devices", near.size());
  std::vector<std::vector<int>> shares(near.size());
  for (const auto& [devices, own] : grouped(services(cores, near), cores.size())) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const std::size_t first = i * own.size() / devices.size();
      // With fewer cores than devices, each device gets one core, shared with others.
      const std::size_t last = std::max(first + 1, (i + 1) * own.size() / devices.size());
      std::vector<int>& share = shares[devices[i]];
      for (std::size_t core = first; core < last; ++core) {
        share.insert(share.end(), cores[own[core]].begin(), cores[own[core]].end());
      }
    }
  }
  for (std::vector<int>& share : shares) std::sort(share.begin(), share.end());
  return shares;
}

namespace {

constexpr int kFlags = HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET;

struct BitmapDeleter {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, BitmapDeleter>;

// Sets the calling thread's policy for new pages, and restores the earlier policy on destruction.
class ScopedPolicy : boost::noncopyable {
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

namespace {

constexpr int kRounds = 9;
constexpr std::uint32_t kExchanges = 1000;  // there and back

// Spins on purpose: the measurement is of the cores' distance, not of the scheduler.
void await(const std::atomic<std::uint32_t>& word, std::uint32_t value) {
  while (word.load(std::memory_order_acquire) != value) {
  }
}

}  // namespace

double ping_pong_ns(int one_core, int other_core) {
  if (one_core == other_core) return 0;
  alignas(64) std::atomic<std::uint32_t> ball{0};
  std::thread peer([&ball, other_core] {
    bind_this_thread(other_core);
    for (std::uint32_t i = 0; i < kRounds * kExchanges; ++i) {
      await(ball, 2 * i + 1);
      ball.store(2 * i + 2, std::memory_order_release);
    }
  });
  const ScopedBinding here(one_core);
  std::array<double, kRounds> one_way{};
  std::uint32_t exchange = 0;
  for (double& result : one_way) {
    const TimePoint start = Clock::now();
    for (std::uint32_t i = 0; i < kExchanges; ++i, ++exchange) {
      ball.store(2 * exchange + 1, std::memory_order_release);
      await(ball, 2 * exchange + 2);
    }
    result = static_cast<double>(Nanoseconds(Clock::now() - start).count()) / (2.0 * kExchanges);
  }
  peer.join();
  std::nth_element(one_way.begin(), one_way.begin() + kRounds / 2, one_way.end());
  return one_way[kRounds / 2];
}

}  // namespace tandem::host
