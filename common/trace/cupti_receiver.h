// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <mutex>
#include <unordered_map>

#include "common/trace/cupti_api.h"
#include "common/trace/cupti_session.h"

namespace tandem::cupti {

// Takes what CUPTI hands over, on whichever thread: records on its own clock. Thread-safe.
class Receiver {
 public:
  // This process's receiver, never destroyed: a thread of CUPTI's may be inside the receiver as the
  // process ends.
  [[nodiscard]] static Receiver& of_process();

  // CUPTI's two callbacks, which know no object. Buffers are this program's.
  static void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* records);
  static void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                   std::size_t size, std::size_t valid);

  // From here on buffers are read, with this; null: they are only freed. Forgets what it has.
  void use(const Api* api);

  // What was read, each behind the mark that was pushed where it was enqueued.
  [[nodiscard]] Harvest take();

 private:
  void read(std::uint8_t* buffer, std::size_t valid);
  void read(const CUpti_Activity& activity);
  // Adds a record of any kind, as all kinds have these fields.
  template <class Activity>
  void add(const Activity& activity, timeline::SliceKind kind, const std::string& name, Bytes size);
  const std::string& name_of(const char* linker_name);

  struct Correlated {
    Record record;
    std::uint32_t correlation = 0;  // with the call that enqueued it
  };

  std::mutex mutex_;  // of what follows
  const Api* api_ = nullptr;
  std::deque<Correlated> records_;
  std::unordered_map<std::uint32_t, std::uint64_t> marks_;  // by correlation
  std::unordered_map<std::string, std::string> names_;      // of kernels, by their linker names
  Harvest harvest_;                                         // but its records
};

}  // namespace tandem::cupti
