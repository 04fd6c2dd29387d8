// SPDX-License-Identifier: Apache-2.0
//
// The calls that a process made of pretended GPUs, as `tandem pretend --log` wrote them;
// docs/pretend.md has the file's keys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/units.h"

namespace tandem::replay {

// ---- what a call asked for ----

struct KernelLaunch {
  std::string_view kernel;  // the mangled name
  std::int64_t threads = 0;
  std::int64_t blocks = 0;
  std::int64_t elements = 0;  // as the kernel was told; 0: not known
};

struct MatrixProduct {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  std::string_view type;  // "f32"
};

using Extents = std::vector<std::int64_t>;

// One operation of a call of cuDNN; what is not known of it is empty.
struct LibraryOperation {
  std::string name;  // "convolution-forward"
  std::string type;
  Extents x{};
  Extents w{};
  Extents y{};
};

struct LibraryCall {
  std::vector<LibraryOperation> operations;
};

struct MemoryCopy {
  Bytes size;
  int from = 0;  // a device, or -1 for the host
  int to = 0;
  bool blocks = false;  // the calling thread until the copy is over
};

struct MemoryFill {
  Bytes size;
};

struct RankCollective {
  std::string_view name;  // "all-reduce"
  Bytes size;             // what the rank gives
  int rank = 0;
  int ranks = 1;
  std::int64_t communicator = 0;
  std::int64_t group = 0;  // 0: in none
};

struct GroupEnd {
  std::int64_t group = 0;
};

struct EventRecord {
  std::int64_t event = 0;
};

struct EventWait {
  std::int64_t event = 0;
};

// The host waits: for an event, a stream or all streams of a device.
struct HostWait {
  enum class For { kNothing, kEvent, kStream, kDevice };
  For what = For::kNothing;
  std::int64_t event = 0;
};

struct StepMark {
  std::string_view text;
};

// The thread has taken Python's lock or lets go of it.
struct LockChange {
  bool is_held = false;
};

// The thread lets others go on that wait for an object, or starts a thread.
struct Post {
  std::int64_t object = 0;
};

// The thread goes on, or begins, behind a post.
struct Woken {
  std::int64_t object = 0;
};

// Asks nothing of a device.
struct HostCall {};

using Asked = std::variant<HostCall, KernelLaunch, MatrixProduct, LibraryCall, MemoryCopy,
                           MemoryFill, RankCollective, GroupEnd, EventRecord, EventWait, HostWait,
                           StepMark, LockChange, Post, Woken>;

// ---- calls ----

struct LoggedCall {
  Nanoseconds time{0};  // of the node's clock
  Nanoseconds duration{0};
  Nanoseconds cpu{0};  // what the thread had computed when the call began
  Nanoseconds cpu_duration{0};
  int thread = 0;
  std::string_view function;  // "cudaLaunchKernel"
  int device = 0;             // of the machine, whatever the process sees
  std::int64_t stream = 0;
  Asked asked{};
};

// What a thread had done by some time.
struct ThreadState {
  Nanoseconds cpu{0};   // what it had computed at the end of its last call
  Nanoseconds last{0};  // when that was
  bool has_lock = false;

  void follow(const LoggedCall& call);
};

// A step of a process, by the indices of its first and last mark among the calls, and its threads
// as they were when it began.
struct MarkedStep {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::map<int, ThreadState> threads{};
};

struct LoggedProcess {
  std::string file;
  std::int64_t pid = 0;
  Nanoseconds log_time{0};  // what the log added to a thread's time between two calls
  std::vector<LoggedCall> calls{};
  // From each mark to the next, but for marks that say "end".
  std::vector<MarkedStep> steps{};
  std::set<std::string, std::less<>> texts{};  // what the calls' views are of
};

// The calls of one file's text, in the order of time; `source` names it in errors. Throws an error
// of one line for a text that is no such log, is one of another version, lacks its end, or has a
// number out of its range: times to 4e18 ns, sizes and products of extents to 2^40, blocks of a
// launch to 2^32, 2^20 ranks. Within these no sum or product of replayed_step.h overflows.
[[nodiscard]] LoggedProcess parse_call_log(std::string_view text, std::string source);

// As parse_call_log(), of a file that need not be in memory as a whole.
[[nodiscard]] LoggedProcess read_call_log(const std::filesystem::path& file);

// The processes of `source` that marked steps: a file, all files of a folder, or all files that
// begin with a path and a dot, as --log names it. In the order of process numbers. Throws a usage
// error where there is no file, where no process marked a step, and where two processes marked
// unequal numbers.
[[nodiscard]] std::vector<LoggedProcess> read_call_logs(const std::filesystem::path& source);

}  // namespace tandem::replay
