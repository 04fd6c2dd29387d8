// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/comm/communicator.h"
#include "common/kernels/operations.h"
#include "ddp/communication_hook.h"
#include "ddp/compression/compression_options.h"

namespace tandem::ddp {

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
  // Device and communicator outlive the hook. Throws a usage error where the options contradict one
  // another.
  PowerSgd(const PowerSgdOptions& options, Device& device, Communicator& communicator);
  ~PowerSgd() override;

  // Forgets factors and errors, but not how many steps there were.
  void set_buckets(const std::vector<HookBucket>& buckets) override;
  void reduce(Stream& comm, std::size_t index) override;

  // The bytes that the next step sends through collectives.
  [[nodiscard]] Bytes bytes_per_step() const override;

 private:
  struct Matrix;
  struct Other;
  struct Bucket;

  [[nodiscard]] bool compresses() const { return step_ >= options_.start_step; }
  void allocate();
  void compress(Stream& comm, Bucket& bucket);
  void add_errors(Stream& comm, const Bucket& bucket);
  void begin_q(Stream& comm, const Bucket& bucket);
  void average_others(Stream& comm, const Bucket& bucket);
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
