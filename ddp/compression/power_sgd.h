// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "common/comm/communicator.h"
#include "common/kernels/operations.h"
#include "common/tensor/shape.h"
#include "ddp/gradient_reducer.h"
#include "ddp/reducer_options.h"

namespace tandem::ddp {

// The low-rank shape of a gradient in PowerSGD: a matrix M (n, m), n being the gradient's first
// extent, that P (n, r) and Q (m, r) stand for. The shape is that of a linear layer whose weight is
// M: in m, out n, and r is the layer's batch, so that P^T = Q^T M^T is the layer's forward, Q^T =
// P^T M the backward to the input, and M' = P Q^T the weight's gradient. P^T and Q^T are stored.
// Empty where compressing is not worth the work by torch's rule, (n + m) r rate < n m, and always
// for vectors and scalars.
[[nodiscard]] std::optional<LinearShape> low_rank_shape(const Shape& gradient,
                                                        const PowerSgdOptions& options);

// PowerSGD's division of the gradients of one bucket. Counts and offsets are in elements.
struct LowRankPlan {
  struct Matrix {
    std::size_t gradient = 0;  // index in the bucket
    LinearShape shape;
    std::int64_t offset_p = 0;      // into the bucket's P^T
    std::int64_t offset_q = 0;      // into the bucket's Q^T
    std::int64_t offset_error = 0;  // into the bucket's errors, at a cache line's start

    [[nodiscard]] std::int64_t count_p() const { return shape.batch * shape.out; }
    [[nodiscard]] std::int64_t count_q() const { return shape.batch * shape.in; }
    [[nodiscard]] std::int64_t count() const { return shape.in * shape.out; }
  };

  struct Other {  // a gradient that is averaged as it is
    std::size_t gradient = 0;
    std::int64_t offset = 0;  // into the buffer of all other gradients
    std::int64_t count = 0;
  };

  std::vector<Matrix> matrices;
  std::vector<Other> others;
  std::int64_t count_p = 0;
  std::int64_t count_q = 0;
  std::int64_t count_error = 0;
  std::int64_t count_others = 0;
};

[[nodiscard]] LowRankPlan plan_low_rank(const std::vector<Shape>& gradients,
                                        const PowerSgdOptions& options);

// PowerSGD as torch has it: matrices travel as two factors of low rank, found by one step of the
// power method that starts from the last step's; what the factors miss is kept and added to the
// next step's gradient. All other gradients of a bucket are averaged as one buffer.
//
//   M += error                  of each matrix, here made in the error's place
//   Q  = orthogonal(Q)          the last step's; random in the first
//   P  = M Q                    all-reduce others, average; all-reduce P, sum
//   P  = orthogonal(P)
//   Q  = M^T P                  all-reduce Q, average
//   M' = P Q^T                  the average, to rank r; what the bucket holds in the end
//   error = M - M'
//
// Three collectives per bucket; memory for the errors of every compressed matrix. Before
// options.start_step each bucket is averaged as it is. Where torch orthogonalises by QR (above rank
// 2), this hook uses Gram-Schmidt too: M' depends on the columns' span alone, which is the same.
//
// Used by the rank's thread. The stream's owner ends the hook's work before the hook is destroyed.
class PowerSgd final : public CommunicationHook {
 public:
  // Device and communicator outlive the hook.
  PowerSgd(const PowerSgdOptions& options, Device& device, Communicator& communicator);
  ~PowerSgd() override;

  // Forgets factors and errors, but not how many steps there were.
  void set_buckets(const std::vector<HookBucket>& buckets) override;
  void reduce(Stream& comm, std::size_t index) override;

 private:
  struct Matrix;
  struct Other;
  struct Bucket;

  [[nodiscard]] bool compresses() const { return step_ >= options_.start_step; }
  void allocate();
  void rehearse();
  void compress(Stream& comm, Bucket& bucket);
  void add_errors(Stream& comm, const Bucket& bucket);
  void begin_q(Stream& comm, const Bucket& bucket);
  void average_others(Stream& comm, const Bucket& bucket);
  void multiply_p(Stream& stream, const Matrix& m);
  void multiply_q(Stream& stream, const Matrix& m);
  void multiply_out(Stream& stream, const Matrix& m);
  void make_p(Stream& comm, const Bucket& bucket);
  void make_q(Stream& comm, const Bucket& bucket);
  void decompress(Stream& comm, const Bucket& bucket);

  const PowerSgdOptions options_;
  Device& device_;
  Communicator& communicator_;
  const std::unique_ptr<Operations> operations_;
  std::int64_t step_ = 0;
  std::vector<Bucket> buckets_;
  std::unique_ptr<Buffer> exchanged_;  // P and others of the largest bucket, Q of every bucket
  std::unique_ptr<Buffer> errors_;     // errors of every matrix; null where there is no matrix
};

}  // namespace tandem::ddp
