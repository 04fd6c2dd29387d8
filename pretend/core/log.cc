// SPDX-License-Identifier: Apache-2.0
#include "pretend/core/log.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "pretend/core/read_back.h"
#include "pretend/core/settings.h"

namespace tandem::pretend::log {

bool on = std::getenv(kLogVariable) != nullptr && *std::getenv(kLogVariable) != '\0';

namespace {

constexpr int kVersion = 3;                  // of the file: 3 has no waits between threads
constexpr uint32_t kFirstChunk = 64;         // DataParallel starts threads in every step
constexpr uint32_t kLargestChunk = 1 << 14;  // records: 1.8 MB
constexpr uint32_t kLimit = 1 << 18;         // records that one thread may hold: 29 MB

struct Chunk {
  explicit Chunk(uint32_t size) : records(new Record[size]), capacity(size) {}
  Record* records;
  uint32_t capacity;
  std::atomic<uint32_t> used{0};
  std::atomic<Chunk*> next{nullptr};
};

// What one thread has appended. Owned by the list of threads, and never destroyed: a thread's
// records outlive the thread.
struct ThreadRecords {
  int index = 0;
  pid_t tid = 0;
  std::array<char, 16> name{};
  Chunk* first = nullptr;
  Chunk* last = nullptr;
  uint32_t held = 0;
};

struct File {
  std::mutex mutex{};
  std::vector<ThreadRecords*> threads{};
  std::unordered_set<std::string> texts{};
  int descriptor = -1;
  int64_t records = 0;
  bool closed = false;
};

File*& file_of_process() {
  static File* file = new File;  // never destroyed: threads append until the process is gone
  return file;
}

File& file() { return *file_of_process(); }

thread_local ThreadRecords* mine = nullptr;

void put(const std::string& text) {
  const ssize_t written = write(file().descriptor, text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size()) && !file().closed) {
    file().closed = true;
    std::fprintf(stderr, "pretended GPUs: the log cannot be written: %s; free space there\n",
                 std::strerror(errno));
  }
}

// What the log itself adds to a thread's time between two calls: about a read of its clock.
int64_t own_time() {
  int64_t least = 1'000'000;
  for (int i = 0; i < 200; ++i) {
    const int64_t before = cpu_now();
    least = std::min(least, cpu_now() - before);
  }
  return least;
}

std::string list_of(const std::vector<int>& numbers) {
  std::string text = "[";
  for (const int number : numbers) {
    text += text.size() > 1 ? "," : "";
    text += std::to_string(number);
  }
  return text + "]";
}

void put_process_line() {
  const Settings& known = settings();
  put("{\"what\":\"process\",\"version\":" + std::to_string(kVersion) +
      ",\"pid\":" + std::to_string(getpid()) + ",\"parent\":" + std::to_string(getppid()) +
      ",\"gpus\":" + std::to_string(known.gpus.size()) + ",\"visible\":" + list_of(known.gpus) +
      ",\"like\":\"" + std::string(known.card->key) +
      "\",\"clock\":\"CLOCK_MONOTONIC\",\"unit\":\"ns\",\"own\":" + std::to_string(own_time()) +
      "}\n");
}

// With the mutex held. False where the file cannot be made, which is said once.
bool open_file() {
  if (file().descriptor >= 0 || file().closed) return !file().closed;
  const std::string path = settings().log + "." + std::to_string(getpid());
  file().descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  if (file().descriptor < 0) {
    file().closed = true;
    std::fprintf(stderr, "pretended GPUs: the log %s cannot be made: %s; name another with --log\n",
                 path.c_str(), std::strerror(errno));
    return false;
  }
  put_process_line();
  return true;
}

void put_thread_line(const ThreadRecords& thread) {
  put("{\"what\":\"thread\",\"thread\":" + std::to_string(thread.index) +
      ",\"tid\":" + std::to_string(thread.tid) + ",\"name\":\"" + thread.name.data() + "\"}\n");
}

// With the mutex held: turns the records of a thread into lines, oldest first, and frees them.
void write_records(ThreadRecords& thread) {
  std::string lines;
  Line line;
  for (Chunk* chunk = thread.first; chunk != nullptr;) {
    const uint32_t used = chunk->used.exchange(0, std::memory_order_acquire);
    for (uint32_t at = 0; at < used; ++at) {
      format(chunk->records[at], thread.index, line);
      lines.append(line.text.data(), line.length);
      if (lines.size() > (1 << 20)) {
        put(lines);
        lines.clear();
      }
    }
    file().records += used;
    chunk = chunk->next.load(std::memory_order_acquire);
  }
  put(lines);
}

void free_all_but_last(ThreadRecords& thread) {
  while (thread.first != thread.last) {
    Chunk* const next = thread.first->next.load();
    delete[] thread.first->records;
    delete thread.first;
    thread.first = next;
  }
}

ThreadRecords* enlist() {
  auto* const thread = new ThreadRecords;
  thread->tid = static_cast<pid_t>(syscall(SYS_gettid));
  prctl(PR_GET_NAME, thread->name.data());
  thread->first = thread->last = new Chunk(kFirstChunk);
  const std::lock_guard lock(file().mutex);
  thread->index = static_cast<int>(file().threads.size());
  file().threads.push_back(thread);
  return thread;
}

// The calling thread holds too many records: they become lines now, and the time is a record.
void write_mine() {
  Record written{.start = now(), .cpu = cpu_now(), .call = "log", .kind = RecordKind::kWritten};
  written.values[0] = mine->held;
  {
    const std::lock_guard lock(file().mutex);
    if (open_file()) write_records(*mine);
    free_all_but_last(*mine);
  }
  mine->held = 0;
  mine->last->used.store(0, std::memory_order_release);
  written.duration = static_cast<uint32_t>(now() - written.start);
  written.cpu_duration = static_cast<uint32_t>(cpu_now() - written.cpu);
  append(written);
}

void add_chunk() {
  if (mine->held >= kLimit) {
    write_mine();
    return;
  }
  auto* const chunk = new Chunk(std::min(mine->last->capacity * 2, kLargestChunk));
  mine->last->next.store(chunk, std::memory_order_release);
  mine->last = chunk;
}

}  // namespace

void append(const Record& record) {
  if (mine == nullptr) mine = enlist();
  uint32_t used = mine->last->used.load(std::memory_order_relaxed);
  if (used == mine->last->capacity) {
    add_chunk();
    used = mine->last->used.load(std::memory_order_relaxed);
  }
  mine->last->records[used] = record;
  mine->last->used.store(used + 1, std::memory_order_release);
  ++mine->held;
}

void forget_parent() {
  if (file().descriptor >= 0) close(file().descriptor);
  file_of_process() = new File;  // another thread of the parent may have been changing the old one
  mine = nullptr;
}

void write_all() {
  if (!on) return;
  const std::lock_guard lock(file().mutex);
  if (file().threads.empty() || !open_file()) return;
  for (ThreadRecords* thread : file().threads) {
    put_thread_line(*thread);
    write_records(*thread);
  }
  put("{\"what\":\"end\",\"records\":" + std::to_string(file().records) +
      ",\"read_back\":" + std::to_string(read_back::count()) + "}\n");
}

const char* keep(const char* text) {
  const std::lock_guard lock(file().mutex);
  return file().texts.insert(text).first->c_str();
}

}  // namespace tandem::pretend::log

namespace tandem::pretend {

void accept(const char* library, const char* function) {
  log::Entry entry(function, RecordKind::kCall);
  entry.text(library);
}

void refuse(const char* library, const char* function) {
  static std::mutex* const mutex = new std::mutex;
  static std::set<std::string>* const reported = new std::set<std::string>;
  const std::lock_guard lock(*mutex);
  if (reported->insert(function).second) {
    std::fprintf(stderr,
                 "pretended %s: %s is not known to Tandem and answers \"not supported\"; leave out "
                 "what calls it, or add an answer to pretend/\n",
                 library, function);
  }
}

}  // namespace tandem::pretend

extern "C" {

// A program that knows its steps can mark them in the log by this name (Python: ctypes.CDLL(None)).
void tandem_pretend_mark(const char* text) {
  tandem::pretend::log::Entry entry("tandem_pretend_mark", tandem::pretend::RecordKind::kMark);
  entry.text(tandem::pretend::log::keep(text));
}
}
