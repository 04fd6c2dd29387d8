// SPDX-License-Identifier: Apache-2.0
#include "ddp/compression/power_sgd.h"

#include <algorithm>

#include "common/model/parameter_layout.h"
#include "common/runtime/copy.h"

namespace tandem::ddp {

namespace {

void add(LowRankPlan& plan, std::size_t gradient, const LinearShape& shape) {
  const LowRankPlan::Matrix matrix{.gradient = gradient,
                                   .shape = shape,
                                   .offset_p = plan.count_p,
                                   .offset_q = plan.count_q,
                                   .offset_error = plan.count_error};
  plan.count_p += matrix.count_p();
  plan.count_q += matrix.count_q();
  plan.count_error += aligned_count(matrix.count());
  plan.matrices.push_back(matrix);
}

void add_uncompressed(LowRankPlan& plan, std::size_t gradient, std::int64_t count) {
  plan.others.push_back({gradient, plan.count_others, count});
  plan.count_others += count;
}

}  // namespace

std::optional<LinearShape> low_rank_shape(const Shape& gradient, const PowerSgdOptions& options) {
  if (gradient.dims().size() < 2 || gradient.count() == 0) return std::nullopt;
  const std::int64_t n = gradient.dims().front();
  const std::int64_t m = gradient.count() / n;
  const std::int64_t r = std::min({n, m, std::int64_t{options.rank}});
  const double factors = static_cast<double>((n + m) * r);
  const bool worth_it = factors * options.min_compression_rate < static_cast<double>(n * m);
  if (!worth_it) return std::nullopt;
  return LinearShape{.batch = r, .in = m, .out = n};
}

LowRankPlan plan_low_rank(const std::vector<Shape>& gradients, const PowerSgdOptions& options) {
  LowRankPlan plan;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (const auto shape = low_rank_shape(gradients[i], options)) {
      add(plan, i, *shape);
    } else {
      add_uncompressed(plan, i, gradients[i].count());
    }
  }
  return plan;
}

struct PowerSgd::Matrix {
  LinearShape shape;
  Span<float> gradient;  // M, then M'
  Span<float> error;     // the error, then the error plus the gradient, M
  Span<float> p;         // transposed
  Span<float> q;         // transposed
};

struct PowerSgd::Other {
  Span<float> gradient;
  Span<float> packed;
};

struct PowerSgd::Bucket {
  Bucket(const HookBucket& from, const PowerSgdOptions& options) : seen(from) {
    std::vector<Shape> shapes;
    for (const HookBucket::Gradient& gradient : from.gradients) shapes.push_back(gradient.shape);
    plan = plan_low_rank(shapes, options);
  }

  // Assigns the memory of the bucket's matrices and others, once `p`, `q` and `packed` have memory.
  void place(Span<float> errors) {
    for (const LowRankPlan::Matrix& m : plan.matrices) {
      matrices.push_back({.shape = m.shape,
                          .gradient = seen.gradients[m.gradient].values,
                          .error = errors.subspan(m.offset_error, m.count()),
                          .p = p.subspan(m.offset_p, m.count_p()),
                          .q = q.subspan(m.offset_q, m.count_q())});
    }
    for (const LowRankPlan::Other& o : plan.others) {
      others.push_back({seen.gradients[o.gradient].values, packed.subspan(o.offset, o.count)});
    }
  }

  HookBucket seen;
  LowRankPlan plan;
  std::vector<Matrix> matrices;
  std::vector<Other> others;
  Span<float> p;                   // P of all matrices; buckets use the memory one after the other
  Span<float> q;                   // Q of all matrices; kept from step to step
  Span<float> packed;              // the other gradients in one piece; for one bucket at a time
  std::uint64_t first_random = 0;  // random numbers that Q of earlier buckets take
  bool has_history = false;        // errors and Q come from an earlier step
};

namespace {

// Cuts memory into parts that start at cache lines.
class Cutter {
 public:
  explicit Cutter(Span<float> memory) : memory_(memory) {}

  Span<float> next(std::int64_t count) {
    const std::int64_t begin = used_;
    used_ += aligned_count(count);
    return memory_.subspan(begin, count);
  }

 private:
  const Span<float> memory_;
  std::int64_t used_ = 0;
};

}  // namespace

PowerSgd::PowerSgd(const PowerSgdOptions& options, Device& device, Communicator& communicator)
    : options_(options),
      device_(device),
      communicator_(communicator),
      operations_(make_operations(device)) {}

PowerSgd::~PowerSgd() = default;

void PowerSgd::set_buckets(const std::vector<HookBucket>& buckets) {
  buckets_.clear();
  for (const HookBucket& seen : buckets) buckets_.emplace_back(seen, options_);
  allocate();
  rehearse();
}

// On GPUs, makes each product once and waits: cuBLASLt loads a kernel when a product's shape and
// alignments first occur, and would wait there behind a collective. The memory is new and zero, and
// stays zero.
void PowerSgd::rehearse() {
  if (device_.id().backend != Backend::kCuda) return;
  const auto stream = device_.make_stream(StreamPriority::kNormal);
  for (const Bucket& bucket : buckets_) {
    for (const Matrix& m : bucket.matrices) {
      multiply_p(*stream, m);
      multiply_q(*stream, m);
      multiply_out(*stream, m);
    }
  }
  stream->synchronize();
}

void PowerSgd::allocate() {
  std::int64_t p = 0;
  std::int64_t packed = 0;
  std::int64_t q = 0;
  std::int64_t errors = 0;
  for (const Bucket& bucket : buckets_) {
    p = std::max(p, aligned_count(bucket.plan.count_p));
    packed = std::max(packed, aligned_count(bucket.plan.count_others));
    q += aligned_count(bucket.plan.count_q);
    errors += bucket.plan.count_error;
  }
  exchanged_.reset();  // frees memory first: a device may be nearly full
  errors_.reset();
  exchanged_ = communicator_.allocate(bytes_of<float>(p + packed + q));
  if (errors > 0) errors_ = device_.allocate(bytes_of<float>(errors));
  Cutter exchanged(exchanged_->as<float>());
  Cutter kept(errors_ ? errors_->as<float>() : Span<float>{});
  const Span<float> largest_p = exchanged.next(p);
  const Span<float> largest_packed = exchanged.next(packed);
  std::uint64_t first_random = 0;
  for (Bucket& bucket : buckets_) {
    bucket.p = largest_p.subspan(0, bucket.plan.count_p);
    bucket.packed = largest_packed.subspan(0, bucket.plan.count_others);
    bucket.q = exchanged.next(bucket.plan.count_q);
    bucket.first_random = first_random;
    first_random += static_cast<std::uint64_t>(bucket.plan.count_q);
    bucket.place(kept.next(bucket.plan.count_error));
  }
}

void PowerSgd::reduce(Stream& comm, std::size_t index) {
  Bucket& bucket = buckets_.at(index);
  if (compresses()) {
    compress(comm, bucket);
  } else {
    communicator_.all_reduce(comm, bucket.seen.flat, ReduceOp::kAverage);
  }
  if (index + 1 == buckets_.size()) ++step_;
}

void PowerSgd::compress(Stream& comm, Bucket& bucket) {
  average_others(comm, bucket);
  if (bucket.matrices.empty()) return;
  add_errors(comm, bucket);
  begin_q(comm, bucket);
  make_p(comm, bucket);
  make_q(comm, bucket);
  decompress(comm, bucket);
  bucket.has_history = true;
}

void PowerSgd::average_others(Stream& comm, const Bucket& bucket) {
  if (bucket.others.empty()) return;
  for (const Other& other : bucket.others) enqueue_copy(comm, other.packed, other.gradient);
  communicator_.all_reduce(comm, bucket.packed, ReduceOp::kAverage);
  for (const Other& other : bucket.others) enqueue_copy(comm, other.gradient, other.packed);
}

void PowerSgd::add_errors(Stream& comm, const Bucket& bucket) {
  for (const Matrix& m : bucket.matrices) {
    if (bucket.has_history) {
      operations_->enqueue(comm, Add{.a = m.error, .b = m.gradient, .sum = m.error});
    } else {
      enqueue_copy(comm, m.error, m.gradient);
    }
  }
}

void PowerSgd::begin_q(Stream& comm, const Bucket& bucket) {
  if (!bucket.has_history) {
    operations_->enqueue(
        comm, FillRandom{.values = bucket.q, .seed = options_.seed, .first = bucket.first_random});
  }
  for (const Matrix& m : bucket.matrices) {
    operations_->enqueue(comm, Orthogonalise{.rows = m.shape.batch, .matrix = m.q});
  }
}

void PowerSgd::multiply_p(Stream& stream, const Matrix& m) {
  operations_->enqueue(stream,
                       LinearForward{.shape = m.shape, .x = m.q, .weight = m.error, .y = m.p});
}

void PowerSgd::multiply_q(Stream& stream, const Matrix& m) {
  operations_->enqueue(
      stream, LinearBackwardInput{.shape = m.shape, .dy = m.p, .weight = m.error, .dx = m.q});
}

void PowerSgd::multiply_out(Stream& stream, const Matrix& m) {
  operations_->enqueue(
      stream, LinearBackwardWeight{.shape = m.shape, .x = m.q, .dy = m.p, .dweight = m.gradient});
}

// P is summed, not averaged, as orthogonalising discards P's length.
void PowerSgd::make_p(Stream& comm, const Bucket& bucket) {
  for (const Matrix& m : bucket.matrices) multiply_p(comm, m);
  communicator_.all_reduce(comm, bucket.p, ReduceOp::kSum);
  for (const Matrix& m : bucket.matrices) {
    operations_->enqueue(comm, Orthogonalise{.rows = m.shape.batch, .matrix = m.p});
  }
}

void PowerSgd::make_q(Stream& comm, const Bucket& bucket) {
  for (const Matrix& m : bucket.matrices) multiply_q(comm, m);
  communicator_.all_reduce(comm, bucket.q, ReduceOp::kAverage);
}

void PowerSgd::decompress(Stream& comm, const Bucket& bucket) {
  for (const Matrix& m : bucket.matrices) {
    multiply_out(comm, m);
    operations_->enqueue(comm, Subtract{.a = m.error, .b = m.gradient, .difference = m.error});
  }
}

}  // namespace tandem::ddp
