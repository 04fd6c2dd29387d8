// SPDX-License-Identifier: Apache-2.0
//
// Logs of pretended GPUs, written by hand.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/support/scratch_folder.h"
#include "tools/tandem/replay/call_log.h"

namespace tandem::test {

// When a thread makes a call, in nanoseconds of the clock and of what the thread has computed.
struct At {
  int thread = 0;
  std::int64_t time = 0;
  std::int64_t cpu = 0;
};

class LogText {
 public:
  explicit LogText(int pid = 1, int own = 0, int version = 2) : pid_(pid) {
    text_ = fmt::format(R"({{"what":"process","version":{},"pid":{},"visible":[0,1],"own":{}}})"
                        "\n",
                        version, pid, own);
  }

  // A call that takes no time; `more` has the keys of its kind.
  LogText& call(At at, std::string_view what, std::string_view function, int device = 0,
                int stream = 0, std::string_view more = "") {
    text_ += fmt::format(
        R"({{"t":{},"ns":0,"cpu":{},"cpu_ns":0,"thread":{},"what":"{}","call":"{}","device":{},"stream":{}{}{}}})"
        "\n",
        at.time, at.cpu, at.thread, what, function, device, stream, more.empty() ? "" : ",", more);
    return *this;
  }

  LogText& mark(At at, std::string_view text = "step") {
    return call(at, "mark", "tandem_pretend_mark", 0, 0, fmt::format(R"("text":"{}")", text));
  }
  LogText& lock(At at, int held) {
    return call(at, "lock", "pthread_cond_signal", 0, 0, fmt::format(R"("held":{})", held));
  }
  LogText& object(At at, std::string_view what, int number) {
    return call(at, what, "sem", 0, 0, fmt::format(R"("object":{})", number));
  }
  LogText& fill(At at, int bytes, int device = 0, int stream = 0) {
    return call(at, "fill", "cudaMemsetAsync", device, stream, fmt::format(R"("bytes":{})", bytes));
  }
  LogText& all_reduce(At at, int rank, int group = 0, int bytes = 8000) {
    return call(at, "collective", "ncclAllReduce", rank, 3,
                fmt::format(R"("collective":"all-reduce","bytes":{},"rank":{},"ranks":2,)"
                            R"("communicator":{},"group":{})",
                            bytes, rank, group == 0 ? 1 : rank + 1, group));
  }
  LogText& synchronise(At at, int device, int stream) {
    return call(at, "sync", "cudaStreamSynchronize", device, stream, R"("event":0)");
  }

  // Writes the file "calls.PID", without its last line where the process was killed.
  void write_into(const ScratchFolder& folder, bool is_killed = false) const {
    std::ofstream file(folder / fmt::format("calls.{}", pid_));
    file << (is_killed ? text_ : whole_text());
  }
  [[nodiscard]] std::string whole_text() const {
    return text_ + "{\"what\":\"end\",\"records\":1,\"read_back\":0}\n";
  }

 private:
  const int pid_;
  std::string text_;
};

}  // namespace tandem::test
