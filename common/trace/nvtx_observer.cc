// SPDX-License-Identifier: Apache-2.0
#include "common/trace/nvtx_observer.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/runtime/cuda_module.h"
#include "common/runtime/host/host_stream.h"

namespace tandem {
namespace {

using nvtx::Category;

bool is_host(const Stream& stream) { return stream.device().backend == Backend::kHost; }

// Runs `task` where the stream's work runs, on a host stream, or else at once. The task is a
// modelled duration of zero.
template <class Task>
void at(Stream& stream, Task task) {
  if (!is_host(stream)) return task();
  host::host_stream(stream).enqueue_due([task = std::move(task)](TimePoint ready) {
    task();
    return ready;
  });
}

// Does the same on a stream that may have failed; `task` then runs in place of the dropped work.
template <class Task>
void at_whatever_failed(Stream& stream, const Task& task) {
  if (!is_host(stream)) return task();
  host::host_stream(stream).enqueue({"range", {}, task, task});
}

// Names the calling thread, once.
void name_thread(const nvtx::Domain& domain, const std::string& name) {
  thread_local bool is_named = false;
  if (!std::exchange(is_named, true)) domain.name_this_thread(name);
}

}  // namespace

// The ranges of a device as they are enqueued. The reducer's threads may call while another thread
// steps.
class NvtxObserver::PerDevice {
 public:
  PerDevice(const nvtx::Domain& domain, int index, Enqueuers enqueuers)
      : domain_(domain),
        worker_(fmt::format("device {} worker", index)),
        comm_(fmt::format("device {} comm", index)),
        enqueuers_(enqueuers),
        step_name_(domain.name("step")),
        collective_name_(domain.name("collective")) {}

  void begin(Stream& stream, std::string_view phase) {
    const std::lock_guard lock(mutex_);
    if (depth_ == 0) named_streams_.clear();
    name_stream(stream, worker_);
    if (depth_ == 0) open(stream, step_name_);
    if (depth_ == 2) close(stream);
    open(stream, name(phase));
  }

  void end_step(Stream& stream) {
    const std::lock_guard lock(mutex_);
    while (depth_ > 0) close(stream);
    ++step_;
  }

  void abandon_step(Stream& stream) {
    const std::lock_guard lock(mutex_);
    for (; depth_ > 0; --depth_) {
      if (nests(stream)) {
        at_whatever_failed(stream, [&domain = domain_] { domain.pop(); });
        continue;
      }
      domain_.end(started_.back());
      started_.pop_back();
    }
    ++step_;
  }

  void bucket_ready(Stream& stream, std::size_t index) {
    const std::lock_guard lock(mutex_);
    start_bucket(stream, index);
  }

  void begin_collective(Stream& stream, std::size_t index) {
    const std::lock_guard lock(mutex_);
    name_stream(stream, comm_);
    if (!buckets_.contains(index)) start_bucket(stream, index);  // without bucket_ready()
    push(stream, Category::kBucket, collective_name_, static_cast<std::int64_t>(index));
  }

  void end_collective(Stream& stream, std::size_t index) {
    const std::lock_guard lock(mutex_);
    at(stream, [&domain = domain_, range = buckets_.at(index)] {
      domain.pop();
      domain.end(*range);
    });
    buckets_.erase(index);
  }

  void begin_operation(Stream& stream, const EnqueuedWork& operation) {
    const std::lock_guard lock(mutex_);
    const std::string_view text = operation.layer.empty() ? operation.name : operation.layer;
    push(stream, Category::kKernelGroup, name(text), step_);
  }

  void end_operation(Stream& stream) { pop(stream); }

 private:
  [[nodiscard]] nvtx::Name name(std::string_view text) {
    const auto known = names_.find(text);
    if (known != names_.end()) return known->second;
    return names_.emplace(text, domain_.name(std::string(text))).first->second;
  }

  [[nodiscard]] nvtx::Name bucket_name(std::size_t index) {
    while (bucket_names_.size() <= index) {
      bucket_names_.push_back(domain_.name(fmt::format("bucket {}", bucket_names_.size())));
    }
    return bucket_names_[index];
  }

  [[nodiscard]] bool nests(const Stream& stream) const {
    return is_host(stream) || enqueuers_ == Enqueuers::kOneThread;
  }

  void push(Stream& stream, Category category, nvtx::Name name, std::int64_t payload) const {
    at(stream,
       [&domain = domain_, category, name, payload] { domain.push(category, name, payload); });
  }
  void pop(Stream& stream) const {
    at(stream, [&domain = domain_] { domain.pop(); });
  }

  // Opens the range of a step, or of a phase within the step.
  void open(Stream& stream, nvtx::Name name) {
    ++depth_;
    if (nests(stream)) return push(stream, Category::kPhase, name, step_);
    started_.push_back(domain_.start(Category::kPhase, name, step_));
  }

  void close(Stream& stream) {
    --depth_;
    if (nests(stream)) return pop(stream);
    domain_.end(started_.back());
    started_.pop_back();
  }

  // Starts the bucket's range. The collective ends the range elsewhere, but later in stream order.
  void start_bucket(Stream& stream, std::size_t index) {
    const auto range = std::make_shared<nvtx::RangeId>(0);
    const nvtx::Name bucket = bucket_name(index);
    buckets_[index] = range;
    at(stream, [&domain = domain_, range, bucket, step = step_] {
      *range = domain.start(Category::kBucket, bucket, step);
    });
  }

  // Names the stream once a step, since a later strategy's stream may have the address of an
  // earlier strategy's stream. A host stream is named by naming its worker thread. `name` is a
  // member of this object.
  void name_stream(Stream& stream, const std::string& name) {
    if (!named_streams_.insert(&stream).second) return;
    if (!is_host(stream)) return name_cuda_stream(stream, name);
    at(stream, [&domain = domain_, &name] { name_thread(domain, name); });
  }

  void name_cuda_stream(Stream& stream, const std::string& name) {
    if (cuda_ == nullptr) cuda_ = find_cuda_profiling();
    if (cuda_ == nullptr) return;  // a stream without a CUDA handle
    void* const native = cuda_->native_stream(stream);
    const std::string*& known = cuda_names_[native];
    if (std::exchange(known, &name) != &name) domain_.name_cuda_stream(native, name);
  }

  const nvtx::Domain& domain_;
  const std::string worker_;  // name of the workers of the device's streams
  const std::string comm_;
  const Enqueuers enqueuers_;
  const nvtx::Name step_name_;
  const nvtx::Name collective_name_;
  std::mutex mutex_;  // guards the members below
  std::map<std::string, nvtx::Name, std::less<>> names_;
  std::vector<nvtx::Name> bucket_names_;
  std::set<const Stream*> named_streams_;           // streams named in this step
  const CudaProfiling* cuda_ = nullptr;             // set when a GPU's stream is met
  std::map<void*, const std::string*> cuda_names_;  // current names of the CUDA streams
  std::int64_t step_ = 1;
  int depth_ = 0;                       // 0: between steps; 1: in a step; 2: in a phase
  std::vector<nvtx::RangeId> started_;  // ranges that do not nest, depth_ of them
  std::map<std::size_t, std::shared_ptr<nvtx::RangeId>> buckets_;  // of unfinished collectives
};

NvtxObserver::NvtxObserver(const nvtx::Domain& domain, Enqueuers enqueuers)
    : domain_(domain), enqueuers_(enqueuers) {}

NvtxObserver::~NvtxObserver() = default;

NvtxObserver::PerDevice& NvtxObserver::of(const Device& device) {
  const std::lock_guard lock(mutex_);
  auto& found = devices_[device.id().index];
  if (!found) found = std::make_unique<PerDevice>(domain_, device.id().index, enqueuers_);
  return *found;
}

void NvtxObserver::part_begins(Device& device, Stream& stream, std::string_view phase) {
  of(device).begin(stream, phase);
}

void NvtxObserver::step_ends(Device& device, Stream& stream) { of(device).end_step(stream); }

void NvtxObserver::step_abandoned(Device& device, Stream& stream) {
  of(device).abandon_step(stream);
}

void NvtxObserver::bucket_ready(Device& device, Stream& stream, std::size_t index) {
  of(device).bucket_ready(stream, index);
}

void NvtxObserver::work_begins(Device& device, Stream& stream, const EnqueuedWork& work) {
  switch (work.kind) {
    case EnqueuedWork::Kind::kOperation:
    case EnqueuedWork::Kind::kInLine:
      return of(device).begin_operation(stream, work);
    case EnqueuedWork::Kind::kCollective:
      return of(device).begin_collective(stream, work.index);
    case EnqueuedWork::Kind::kCopy:
      break;
  }
}

void NvtxObserver::work_ends(Device& device, Stream& stream, const EnqueuedWork& work) {
  switch (work.kind) {
    case EnqueuedWork::Kind::kOperation:
    case EnqueuedWork::Kind::kInLine:
      return of(device).end_operation(stream);
    case EnqueuedWork::Kind::kCollective:
      return of(device).end_collective(stream, work.index);
    case EnqueuedWork::Kind::kCopy:
      break;
  }
}

}  // namespace tandem
