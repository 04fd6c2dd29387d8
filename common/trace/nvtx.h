// SPDX-License-Identifier: Apache-2.0
//
// NVTX, the marks that Nsight Systems, Nsight Compute and other tools show beside their records.
// All of NVTX is behind this header: nvtx.cc is the only file that includes NVIDIA's headers, and
// nvtx_absent.cc replaces nvtx.cc in builds without these headers, where no tool ever watches.
#pragma once

#include <boost/noncopyable.hpp>
#include <cstdint>
#include <string>

namespace tandem::nvtx {

// The categories by which tools show ranges.
enum class Category : std::uint32_t {
  kHarness = 1,  // measurement around the steps
  kPhase,        // steps and their phases
  kBucket,       // gradients on their way
  kKernelGroup,  // the launches of one operation of a model, a loss or an optimizer
};

// A text that is registered with the tool, so that a range costs no copy of the text. Belongs to
// one domain.
struct Name {
  void* handle = nullptr;
};

// A range that may end on another thread than it started on.
using RangeId = std::uint64_t;

// The domain "tandem". Where no tool was attached as the process started, is_watched() is false and
// no call has an effect. Thread-safe.
class Domain : boost::noncopyable {
 public:
  Domain();
  ~Domain();

  [[nodiscard]] bool is_watched() const { return handle_ != nullptr; }

  // Registers a text; every range needs a registered name.
  [[nodiscard]] Name name(const std::string& text) const;

  // Opens a nested range of the calling thread, which must end its ranges itself, the latest first.
  void push(Category category, Name name, std::int64_t payload) const;
  void pop() const;

  [[nodiscard]] RangeId start(Category category, Name name, std::int64_t payload) const;
  void end(RangeId range) const;

  void name_this_thread(const std::string& name) const;
  // Names a CUDA stream by its handle: cudaStream_t is CUstream.
  void name_cuda_stream(void* stream, const std::string& name) const;

 private:
  void* handle_ = nullptr;  // the tool's handle
};

// A nested range of the calling thread for the life of this object. The domain outlives this
// object.
class ScopedRange : boost::noncopyable {
 public:
  ScopedRange(const Domain& domain, Category category, Name name, std::int64_t payload)
      : domain_(domain) {
    domain_.push(category, name, payload);
  }
  ~ScopedRange() { domain_.pop(); }

 private:
  const Domain& domain_;
};

}  // namespace tandem::nvtx
