// SPDX-License-Identifier: Apache-2.0
//
// The log of a process: every thread appends records to memory of its own, without a lock. The
// records become lines of JSON when the process ends (exit, _exit), or when a thread holds so many
// that memory would matter; the time that this takes is a record itself.
//
// Thread-safe. The file is PATH.PID, made at the first line.
#pragma once

#include <boost/noncopyable.hpp>
#include <ctime>
#include <optional>

#include "pretend/core/device.h"
#include "pretend/core/record.h"

namespace tandem::pretend::log {

extern bool on;  // set before main(), by the environment

// Nanoseconds of CLOCK_MONOTONIC.
[[nodiscard]] inline int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// Nanoseconds that the calling thread has computed: waiting for a core, a lock or a thread is none.
[[nodiscard]] inline int64_t cpu_now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// Appends the record to the calling thread's.
void append(const Record& record);

// Writes all records of all threads. Threads that still append may lose their newest ones.
void write_all();

// In a child of fork(): it starts without its parent's records, with a file of its own.
void forget_parent();

// A text that lives as long as the process; equal texts share one copy.
[[nodiscard]] const char* keep(const char* text);

// The line of a record, with its line break.
struct Line {
  std::array<char, 2048> text{};
  size_t length = 0;
};
void format(const Record& record, int thread, Line& line);

// One call: takes the time from construction to destruction and appends the record, if the log is
// on. Used as `log::Entry entry("cudaMalloc", RecordKind::kMemory); entry.set(bytes);`
class Entry : boost::noncopyable {
 public:
  Entry(const char* call, RecordKind kind) {
    if (on) {
      record_.emplace();
      record_->call = call;
      record_->kind = kind;
      record_->cpu = cpu_now();
      record_->start = now();
    }
  }
  ~Entry() {
    if (record_) {
      record_->duration = static_cast<uint32_t>(now() - record_->start);
      record_->cpu_duration = static_cast<uint32_t>(cpu_now() - record_->cpu);
      append(*record_);
    }
  }

  void at(int device, uint32_t stream) {
    if (record_) {
      record_->device = static_cast<int16_t>(device);
      record_->stream = stream;
    }
  }
  Target at(Target target) {
    at(target.device, target.stream);
    return target;
  }
  void text(const char* text) {
    if (record_) record_->text = text;
  }
  template <typename... Values>
  void set(Values... values) {
    static_assert(sizeof...(Values) <= kRecordValues);
    if (record_) record_->values = {static_cast<int64_t>(values)...};
  }

 private:
  std::optional<Record> record_{};  // empty without the log
};

}  // namespace tandem::pretend::log

namespace tandem::pretend {

// How functions answer that no code of their own stands behind: accepted ones succeed and are
// logged by name, refused ones say once, on stderr, that they are not supported.
void accept(const char* library, const char* function);
void refuse(const char* library, const char* function);

}  // namespace tandem::pretend
