// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "common/runtime/cuda_module.h"
#include "common/runtime/stream.h"
#include "common/trace/cupti_session.h"
#include "common/trace/timeline_marks.h"

namespace tandem {

// A mark of the work that a GPU ran (kGpuRan), and the number of the mark behind which the work was
// enqueued; 0 where the number is unknown, since a thread of NCCL's launched the work.
struct GpuWork {
  TimelineMark ran;
  std::uint64_t behind = 0;
};

struct MarksWithWork {
  std::vector<TimelineMark> marks;
  Nanoseconds moved{0};  // the largest change of a mark's time
};

// Merges a device's marks, by number, with the work that its GPU ran behind the marks. On a stream,
// order decides what two clocks cannot: a mark is no later than the work enqueued after the mark,
// and no earlier than the end of the work enqueued before. So the marks' times, which are times of
// events, are moved to fit the times of the work, as little as possible: first all marks alike, as
// one clock is off the other, then each mark by itself. Work whose mark is unknown is put by its
// time where its stream's marks say that work goes on, or else into the step around this time, or
// nowhere.
[[nodiscard]] MarksWithWork with_gpu_work(std::vector<TimelineMark> marks,
                                          std::vector<GpuWork> work);

// The work of this process's GPUs as CUPTI reports the work, on the devices and streams of a
// timeline. CUPTI is attached during the life of this object where CUPTI is available; else this
// object numbers marks and gives the reason. Thread-safe except begin() and end().
class GpuActivity {
 public:
  struct Report {
    std::map<int, std::vector<GpuWork>> work;  // work by device
    Nanoseconds clock_error{0};
    std::int64_t lost = 0;   // records that were dropped or have no time
    std::string cuda_times;  // "cupti", or "events, since ..." with the reason
  };

  explicit GpuActivity(const std::vector<std::string>& libraries = cupti::usual_libraries(),
                       const CudaProfiling* cuda = find_cuda_profiling());

  // Forgets work that ran before; all streams must be synchronised.
  void begin() { session_.begin(); }

  // Makes known a stream that has marks, with the stream's place among the device's streams.
  void know(Stream& stream, std::size_t index);

  // The number of a device's next mark, counted from 1 over all devices: work that the calling
  // thread enqueues from here on lies behind this mark.
  [[nodiscard]] std::uint64_t mark(int device);

  // Returns all work that ran since begin() and detaches CUPTI. All streams must be synchronised.
  [[nodiscard]] Report end();

 private:
  struct Place {
    int device = 0;
    std::size_t stream = 0;
  };
  using Key = std::pair<int, std::uint32_t>;  // a GPU, and CUPTI's number of a stream on the GPU

  // The place of a stream that nobody marked: one more stream of the device behind whose mark the
  // stream's work was enqueued, if this device is on the record's GPU, or else of any device on the
  // record's GPU; absent where there is none.
  [[nodiscard]] const Place* place_of(const cupti::Record& record);
  [[nodiscard]] const int* device_of(const cupti::Record& record) const;

  cupti::Session session_;
  const CudaProfiling* const cuda_;  // null: no stream is known
  std::mutex mutex_;                 // guards the members below
  std::map<Key, Place> places_;
  std::map<int, std::size_t> streams_;  // number of streams of each device
  std::map<int, int> gpus_;             // GPU of each device
  std::vector<int> devices_;            // device of each mark
};

}  // namespace tandem
