// SPDX-License-Identifier: Apache-2.0
#include "ddp/bucket_reducer.h"

#include <fmt/ranges.h>

#include <sstream>

#include "common/base/error.h"
#include "common/runtime/copy.h"

namespace tandem::ddp {
namespace {

// Rank 0's order of gradients, on all ranks.
std::vector<int> agreed_order(Communicator& communicator, const std::vector<int>& mine) {
  const std::string text = fmt::format("{}", fmt::join(mine, " "));
  std::istringstream order(communicator.all_gather(text).front());
  std::vector<int> agreed;
  for (int segment = 0; order >> segment;) agreed.push_back(segment);
  return agreed;
}

}  // namespace

struct BucketReducer::Bucket {
  BucketPlan plan;
  std::unique_ptr<Buffer> buffer;  // communicator memory: the transport needs no copy
  std::unique_ptr<Event> filled;   // on compute: the last gradient is in the bucket
  std::unique_ptr<Event> reduced;  // on comm: the average is in the bucket
  std::size_t missing = 0;         // gradients of this step that are not in the bucket yet

  [[nodiscard]] Span<float> values() const { return buffer->as<float>(plan.count); }
};

BucketReducer::BucketReducer(Replica& replica, const ParameterLayout& layout,
                             Communicator& communicator, const ReducerOptions& options,
                             std::unique_ptr<CommunicationHook> hook)
    : replica_(replica),
      layout_(layout),
      communicator_(communicator),
      options_(options),
      hook_(std::move(hook)),
      backward_done_(replica.device().make_event()),
      timer_(replica.device(), replica.timer().options()) {
  if (options.grads == GradsMode::kCopy) own_gradients_ = make_arena(replica.device(), layout);
  comm_ = replica.device().make_stream(options.priority);
  build(plan_one_bucket(layout));
}

// The compute stream may still copy out of the buckets, or read views of the buckets.
BucketReducer::~BucketReducer() {
  static_cast<void>(capture_error([this] { replica_.stream().synchronize(); }));
}

void BucketReducer::build(const std::vector<BucketPlan>& plans) {
  buckets_.clear();
  places_.assign(layout_.segments().size(), {});
  views_.assign(layout_.segments().size(), {});
  for (const BucketPlan& plan : plans) {
    auto bucket = std::make_unique<Bucket>();
    bucket->plan = plan;
    bucket->buffer = communicator_.allocate(bytes_of<float>(plan.count));
    bucket->filled = replica_.device().make_event();
    bucket->reduced = replica_.device().make_event();
    for (const BucketPlan::Slot& slot : plan.slots) {
      const auto segment = static_cast<std::size_t>(slot.segment);
      views_[segment] = bucket->values().subspan(slot.offset, slot.count);
      places_[segment].bucket = buckets_.size();
    }
    buckets_.push_back(std::move(bucket));
  }
  if (!hook_) return;
  std::vector<Span<float>> seen;
  for (const auto& bucket : buckets_) seen.push_back(bucket->values());
  hook_->set_buckets(seen);
}

const TensorList& BucketReducer::gradients() const {
  return own_gradients_ ? own_gradients_->tensors : views_;
}

std::optional<Span<float>> BucketReducer::flat_gradients() const {
  if (!own_gradients_) return std::nullopt;
  return own_gradients_->flat;
}

void BucketReducer::begin_step() {
  if (!rebuilt_ && !ready_order_.empty()) rebuild_in_ready_order();
  for (const auto& bucket : buckets_) bucket->missing = bucket->plan.slots.size();
  for (Place& place : places_) place.ready = false;
  next_launch_ = 0;
}

// Runs once, between the first two steps: no work may use the old buckets any more.
void BucketReducer::rebuild_in_ready_order() {
  replica_.stream().synchronize();
  comm_->synchronize();
  static_cast<void>(timer_.collect());  // times of one bucket, not to be mixed with later times
  ready_order_ = agreed_order(communicator_, ready_order_);
  build(plan_buckets(layout_, ready_order_, options_.buckets));
  communicator_.barrier();  // no rank enqueues a collective while other ranks take and free memory
  rebuilt_ = true;
}

bool BucketReducer::reduces_after_backward() const {
  return options_.overlap == Overlap::kOff || (options_.graph == Graph::kStatic && !rebuilt_);
}

void BucketReducer::gradient_ready(int segment) {
  Place& place = places_.at(static_cast<std::size_t>(segment));
  TANDEM_CHECK(!place.ready, "the gradient of segment {} is given twice in a step", segment);
  place.ready = true;
  if (!rebuilt_) ready_order_.push_back(segment);
  add_to_bucket(segment);
}

void BucketReducer::add_to_bucket(int segment) {
  if (own_gradients_) bring_into_bucket(segment);
  const std::size_t index = places_[static_cast<std::size_t>(segment)].bucket;
  if (--buckets_[index]->missing == 0) mark_filled(index);
}

// One pass copies and divides, as in torch. For a hook, which divides
// by itself, it is a plain copy, as in torch too. It belongs to backward, in whose hooks torch does
// it: marks around each gradient would slow ddp alone.
void BucketReducer::bring_into_bucket(int segment) {
  const auto index = static_cast<std::size_t>(segment);
  const Span<float> gradient = gradients()[index];
  Stream& stream = replica_.stream();
  if (hook_) {
    replica_.timer().copy(stream, views_[index], gradient);
  } else {
    replica_.operations().enqueue(stream,
                                  Scale{.in = gradient,
                                        .out = views_[index],
                                        .factor = 1.0F / static_cast<float>(communicator_.size())});
  }
}

void BucketReducer::mark_filled(std::size_t index) {
  timer_.ready(replica_.stream(), index);
  replica_.stream().record(*buckets_[index]->filled);
  if (!reduces_after_backward()) launch_ready();
}

void BucketReducer::launch_ready() {
  while (next_launch_ < buckets_.size() && buckets_[next_launch_]->missing == 0) {
    launch(next_launch_++);
  }
}

void BucketReducer::launch(std::size_t index) {
  Bucket& bucket = *buckets_[index];
  comm_->wait(*bucket.filled);
  timer_.begin(*comm_, index, bucket.plan.gradient_bytes);
  if (hook_) {
    hook_->reduce(*comm_, index);
  } else {
    // The collective averages views, which spares them a dividing pass; copies are divided already.
    communicator_.all_reduce(*comm_, bucket.values(),
                             own_gradients_ ? ReduceOp::kSum : ReduceOp::kAverage);
  }
  timer_.end(*comm_, index, bucket.plan.gradient_bytes);
  comm_->record(*bucket.reduced);
}

void BucketReducer::finish() {
  Stream& compute = replica_.stream();
  replica_.timer().begin(compute, Phase::kExposedComm);
  if (reduces_after_backward()) {
    // The host runs ahead of the device, so a late launch alone would not hold a collective back.
    compute.record(*backward_done_);
    comm_->wait(*backward_done_);
  }
  launch_ready();
  TANDEM_CHECK(next_launch_ == buckets_.size(), "backward left {} of {} buckets unfilled",
               buckets_.size() - next_launch_, buckets_.size());
  for (std::size_t index = 0; index < buckets_.size(); ++index) {
    compute.wait(*buckets_[index]->reduced);
    timer_.back(compute, index);
    if (own_gradients_) copy_out(*buckets_[index]);
  }
}

void BucketReducer::copy_out(const Bucket& bucket) {
  replica_.timer().begin(replica_.stream(), Phase::kBucketCopy);
  const auto copy_all = [&] {
    for (const BucketPlan::Slot& slot : bucket.plan.slots) {
      const auto index = static_cast<std::size_t>(slot.segment);
      enqueue_copy(replica_.stream(), own_gradients_->tensors[index], views_[index]);
    }
  };
  replica_.timer().copies(replica_.stream(), static_cast<int>(bucket.plan.slots.size()),
                          bucket.plan.gradient_bytes, copy_all);
  replica_.timer().begin(replica_.stream(), Phase::kExposedComm);
}

std::vector<Bytes> BucketReducer::bucket_sizes() const {
  std::vector<Bytes> sizes;
  for (const auto& bucket : buckets_) sizes.push_back(bucket->plan.gradient_bytes);
  return sizes;
}

std::vector<CollectiveTimes> BucketReducer::collect_collectives() { return timer_.collect(); }

void BucketReducer::synchronize() { comm_->synchronize(); }

}  // namespace tandem::ddp
