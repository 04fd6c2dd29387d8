// SPDX-License-Identifier: Apache-2.0
//
// NVTX, the marks that Nsight Systems, Nsight Compute and other tools show beside what they record.
// Everything of it is behind this header: nvtx.cc is the one file that includes NVIDIA's, and
// nvtx_absent.cc stands in for it in builds without them, where no tool ever watches.
#pragma once

#include <cstdint>
#include <string>

namespace tandem::nvtx {

// What tools show ranges by.
enum class Category : std::uint32_t {
  kHarness = 1,  // what measures around the steps
  kPhase,        // steps and their phases
  kBucket,       // gradients on their way
  kKernelGroup,  // what one operation of a model, a loss or an optimizer launches
};

// A text that the tool knows already, so that a range costs no copy of it. Of one domain.
struct Name {
  void* handle = nullptr;
};

// A range that may end on another thread than it started on.
using RangeId = std::uint64_t;

// The domain "tandem". Where no tool was attached as the process started, is_watched() is false
// and every call is one of NVTX's that finds nobody to tell. Thread-safe.
class Domain {
 public:
  Domain();
  ~Domain();
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  [[nodiscard]] bool is_watched() const { return handle_ != nullptr; }

  // Registers a text, which no range can do without.
  [[nodiscard]] Name name(const std::string& text) const;

  // Nested ranges of the calling thread, which has to end them itself, the latest first.
  void push(Category category, Name name, std::int64_t payload) const;
  void pop() const;

  [[nodiscard]] RangeId start(Category category, Name name, std::int64_t payload) const;
  void end(RangeId range) const;

  void name_this_thread(const std::string& name) const;
  // By its handle: cudaStream_t is CUstream.
  void name_cuda_stream(void* stream, const std::string& name) const;

 private:
  void* handle_ = nullptr;  // the tool's
};

// A nested range of the calling thread, as long as this lives. The domain outlives it.
class ScopedRange {
 public:
  ScopedRange(const Domain& domain, Category category, Name name, std::int64_t payload)
      : domain_(domain) {
    domain_.push(category, name, payload);
  }
  ~ScopedRange() { domain_.pop(); }
  ScopedRange(const ScopedRange&) = delete;
  ScopedRange& operator=(const ScopedRange&) = delete;

 private:
  const Domain& domain_;
};

}  // namespace tandem::nvtx
