// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/bucket_reducer.h"

#include "common/base/capture_error.h"
#include "common/runtime/copy.h"

namespace tandem {

struct BucketReducer::Bucket {
  BucketPlan plan;
  std::unique_ptr<Buffer> buffer;  // from the communicator: the transport needs no copy
  std::unique_ptr<Event> filled;   // on compute: the last gradient is in
  std::unique_ptr<Event> reduced;  // on comm: the average is in
  std::size_t missing = 0;         // gradients of this step
};

BucketReducer::BucketReducer(Replica& replica, const ParameterLayout& layout,
                             Communicator& communicator, const ReducerOptions& options)
    : replica_(replica), layout_(layout), communicator_(communicator), options_(options) {
  if (options.grads == GradsMode::kCopy) own_gradients_ = make_arena(replica.device(), layout);
  comm_ = replica.device().make_stream(StreamPriority::kHigh);
  build(plan_one_bucket(layout));
}

// The compute stream may still copy out of the buckets, or read views of them.
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
      views_[segment] = bucket->buffer->as<float>().subspan(slot.offset, slot.count);
      places_[segment] = {.bucket = buckets_.size(), .view = views_[segment]};
    }
    buckets_.push_back(std::move(bucket));
  }
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

// Once, between the first two steps: nothing may use the old buckets any more.
void BucketReducer::rebuild_in_ready_order() {
  replica_.stream().synchronize();
  comm_->synchronize();
  for (int& segment : ready_order_) {
    segment = static_cast<int>(communicator_.all_gather(segment).front());
  }
  build(plan_buckets(layout_, ready_order_, {options_.first_bucket_cap, options_.bucket_cap}));
  rebuilt_ = true;
}

void BucketReducer::gradient_ready(int segment) {
  Place& place = places_.at(static_cast<std::size_t>(segment));
  TANDEM_CHECK(!place.ready, "the gradient of segment {} is given twice in a step", segment);
  place.ready = true;
  if (!rebuilt_) ready_order_.push_back(segment);
  if (own_gradients_) copy_in(segment);
  mark_ready(place.bucket);
}

// One pass that copies and divides, as torch does it.
void BucketReducer::copy_in(int segment) {
  const auto index = static_cast<std::size_t>(segment);
  replica_.timer().begin(replica_.stream(), Phase::kBucketCopy);
  replica_.operations().enqueue(replica_.stream(),
                                Scale{.in = own_gradients_->tensors[index],
                                      .out = places_[index].view,
                                      .factor = 1.0F / static_cast<float>(communicator_.size())});
  replica_.timer().begin(replica_.stream(), Phase::kBackward);
}

void BucketReducer::mark_ready(std::size_t bucket) {
  if (--buckets_[bucket]->missing > 0) return;
  replica_.stream().record(*buckets_[bucket]->filled);
  if (options_.overlap == Overlap::kOn) launch_ready();
}

void BucketReducer::launch_ready() {
  while (next_launch_ < buckets_.size() && buckets_[next_launch_]->missing == 0) {
    launch(*buckets_[next_launch_++]);
  }
}

void BucketReducer::launch(Bucket& bucket) {
  comm_->wait(*bucket.filled);
  const ReduceOp op = own_gradients_ ? ReduceOp::kSum : ReduceOp::kAverage;
  communicator_.all_reduce(*comm_, bucket.buffer->as<float>(bucket.plan.count), op);
  comm_->record(*bucket.reduced);
}

void BucketReducer::finish() {
  Stream& compute = replica_.stream();
  replica_.timer().begin(compute, Phase::kExposedComm);
  launch_ready();
  TANDEM_CHECK(next_launch_ == buckets_.size(), "backward left {} of {} buckets unfilled",
               buckets_.size() - next_launch_, buckets_.size());
  for (const auto& bucket : buckets_) {
    compute.wait(*bucket->reduced);
    if (own_gradients_) copy_out(*bucket);
  }
}

void BucketReducer::copy_out(const Bucket& bucket) {
  replica_.timer().begin(replica_.stream(), Phase::kBucketCopy);
  for (const BucketPlan::Slot& slot : bucket.plan.slots) {
    const auto index = static_cast<std::size_t>(slot.segment);
    enqueue_copy(replica_.stream(), own_gradients_->tensors[index], places_[index].view);
  }
  replica_.timer().begin(replica_.stream(), Phase::kExposedComm);
}

std::vector<Bytes> BucketReducer::bucket_sizes() const {
  std::vector<Bytes> sizes;
  for (const auto& bucket : buckets_) sizes.push_back(bucket->plan.gradient_bytes);
  return sizes;
}

void BucketReducer::synchronize() { comm_->synchronize(); }

}  // namespace tandem
