// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "common/runtime/cuda_profiling.h"
#include "common/runtime/stream.h"
#include "common/trace/cupti_session.h"
#include "common/trace/gpu_work.h"

namespace tandem {

// What this process's GPUs ran, by CUPTI, on the devices and streams of a timeline. As long as it
// lives CUPTI is attached, where it can be had; else it numbers marks and tells why. Thread-safe
// but for begin() and end().
class GpuActivity {
 public:
  struct Told {
    std::map<int, std::vector<GpuWork>> work;  // by device
    Nanoseconds clock_error{0};
    std::int64_t lost = 0;   // records that were dropped or have no time
    std::string cuda_times;  // "cupti", or "events, since ...": a timeline has no others
  };

  explicit GpuActivity(const std::vector<std::string>& libraries = cupti::usual_libraries(),
                       const CudaProfiling* cuda = find_cuda_profiling());

  // Forgets what ran before; all streams are synchronised.
  void begin() { session_.begin(); }

  // A stream that marks are of, with its place among the device's.
  void know(Stream& stream, std::size_t index);

  // The number of a device's next mark, from 1 over all devices: what the calling thread enqueues
  // from here on is behind it.
  [[nodiscard]] std::uint64_t mark(int device);

  // All that ran since begin(). Ends: CUPTI is detached. All streams are synchronised.
  [[nodiscard]] Told end();

 private:
  struct Place {
    int device = 0;
    std::size_t stream = 0;
  };
  using Key = std::pair<int, std::uint32_t>;  // a GPU, and CUPTI's number of a stream of it

  // Of a stream that nobody marked: one more of the device behind whose mark it was enqueued, if
  // that is on the record's GPU, or else of any that is; absent where none is.
  [[nodiscard]] const Place* place_of(const cupti::Record& record);
  [[nodiscard]] const int* device_of(const cupti::Record& record) const;

  cupti::Session session_;
  const CudaProfiling* const cuda_;  // null: no stream is known
  std::mutex mutex_;                 // of what follows
  std::map<Key, Place> places_;
  std::map<int, std::size_t> streams_;  // of each device
  std::map<int, int> gpus_;             // of each device
  std::vector<int> devices_;            // of each mark
};

}  // namespace tandem
