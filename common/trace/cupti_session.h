// SPDX-License-Identifier: Apache-2.0
//
// CUPTI, by which a CUDA driver reports what its GPUs did and when. cupti_api.h alone includes
// NVIDIA's header; cupti_absent.cc stands in for builds without it.
#pragma once

#include <boost/noncopyable.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/units.h"
#include "common/timeline/timeline.h"

namespace tandem::cupti {

// A kernel, a copy or a set of memory that a GPU ran.
struct Record {
  timeline::SliceKind kind = timeline::SliceKind::kKernel;  // or kMemory
  std::string name;
  Nanoseconds begin{0};  // on the host's clock, as Clock
  Nanoseconds end{0};
  int gpu = 0;               // CUDA's ordinal
  std::uint32_t stream = 0;  // CUPTI's number of it, among the GPU's
  std::uint64_t behind = 0;  // the last mark of the thread that enqueued it; 0: of a thread without
  Bytes size{};              // of what a copy or a set moves
};

struct CollectedRecords {
  std::vector<Record> records;    // by their beginnings
  Nanoseconds clock_error{0};     // how far off the host's clock CUPTI's was placed, at most
  std::int64_t dropped = 0;       // records that CUPTI had no room for
  std::int64_t without_time = 0;  // records that it had no time of
  std::string failure;            // of reading them; empty: none
};

// Places of CUPTI, in the order in which they are tried: by the loader's own rules, beside the
// cuBLASLt that this process has loaded (in a toolkit's folder, or among pip's wheels, those of
// CUDA 13 in one folder and those of CUDA 12 in a folder each), then in the toolkits that CUDA_HOME
// and CUDA_PATH name, and in CUDA's usual places.
[[nodiscard]] std::vector<std::string> usual_libraries();

// CUPTI's records of this process's GPUs, as long as it lives. One at a time in a process; what is
// launched meanwhile is slower. Nothing of it throws: where CUPTI cannot be had, why_not() says so
// and it does nothing.
class Session : boost::noncopyable {
 public:
  explicit Session(const std::vector<std::string>& libraries = usual_libraries());
  ~Session();

  // In one line, with what to do; empty: records are made.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }

  // Records of what ran so far are forgotten. All streams are synchronised.
  void begin();

  // Work that the calling thread enqueues from here on follows this mark, which is not 0.
  // Thread-safe.
  void mark(std::uint64_t number) const;

  // CUPTI's number of a cudaStream_t; none where it has none. Thread-safe.
  [[nodiscard]] std::optional<std::uint32_t> number_of(void* stream) const;

  // All that ran since begin(), and ends the session. All streams are synchronised.
  [[nodiscard]] CollectedRecords end();

 private:
  class Attachment;

  std::unique_ptr<Attachment> attachment_;  // null: there is none
  std::string why_not_;
};

}  // namespace tandem::cupti
