// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for NCCL on the stand-in for CUDA's runtime: ranks are threads, calls block as those
// of NCCL's communicators do by default, collectives really move data on the streams'
// workers, and wait there for their peers as NCCL's kernels do. It is strict: what NCCL forbids is
// noted. It says nothing of how NCCL behaves on GPUs; for that the contract runs on real ones.
#pragma once

#include <string>
#include <vector>

#include "common/comm/nccl/nccl_api.h"
#include "common/comm/nccl/nccl_communicator.h"

namespace tandem::test::fake_nccl {

[[nodiscard]] const nccl::Api& api();

// From now on, memory of a GPU that is taken or freed while a collective is on a stream is among
// the violations, until the stand-in for CUDA's runtime is reset.
void watch_memory();

// Multiplies on the stream's worker.
void scale(cuda::CudaStream& stream, AnySpan values, float factor);

// Back to a world without failures. Between tests only.
void reset();

// The next call of `function` ("ncclAllReduce") by `rank` answers `result`, once. -1: by any rank.
void fail_next(const std::string& function, ncclResult_t result, int rank = -1);

// The first collective of each communicator, or the group that it is in, comes back only once all
// ranks have made theirs: NCCL connects ranks when they first need it.
void connect_at_first_call();

// What `rank`'s communicator is found to have met meanwhile.
void set_async_error(int rank, ncclResult_t result);

// `rank` never gets through the start of its communicator, and so nobody does.
void stick_at_start(int rank);

// The end of no communicator comes back.
void stick_at_end();

// What NCCL forbids and somebody did: two threads inside one communicator, where a group is inside
// all of its calls' until it ends, a call on one that is gone, memory taken or freed while a
// collective was on a stream, a group left open.
[[nodiscard]] std::vector<std::string> violations();

// Calls of `rank` in order, "ncclAllReduce 100"; of all functions that take a communicator, but for
// the looks at its state.
[[nodiscard]] std::vector<std::string> calls_of(int rank);

[[nodiscard]] int living();  // communicators: 0 at the end

}  // namespace tandem::test::fake_nccl
