// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/host_stream.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "common/runtime/host/host_event.h"
#include "common/runtime/host/worker_thread.h"

#if defined(__SANITIZE_THREAD__)

extern "C" {  // declared as GCC declares its built-ins of these names, with a signed size
void __tsan_read_range(void* address, long size);   // NOLINT(bugprone-reserved-identifier)
void __tsan_write_range(void* address, long size);  // NOLINT(bugprone-reserved-identifier)
}

namespace tandem::host {
namespace {

constexpr std::uintptr_t kPage = 4096;
constexpr std::uintptr_t kWholeUpTo = 16 * kPage;

void report(std::uintptr_t from, std::uintptr_t to, Access::Mode mode) {
  if (to <= from) return;
  auto* const address = reinterpret_cast<void*>(from);
  const auto size = static_cast<long>(to - from);
  if (mode == Access::Mode::kRead) {
    __tsan_read_range(address, size);
  } else {
    __tsan_write_range(address, size);
  }
}

// Reports a declared access to ThreadSanitizer, on the thread that is about to make the access:
// work inside a library is invisible to ThreadSanitizer otherwise. Does nothing in other builds,
// where accesses need not be kept until then.
//
// Reports whole head and tail pages of large ranges and one byte of each page between: two ranges
// that overlap by a page or more then share a reported byte, whatever their starts.
void report_access(const Access& access) {
  const auto from = reinterpret_cast<std::uintptr_t>(access.address);
  const std::uintptr_t to = from + static_cast<std::uintptr_t>(access.size.value);
  if (to - from <= kWholeUpTo) return report(from, to, access.mode);
  const std::uintptr_t first_page = (from + kPage - 1) / kPage * kPage;
  const std::uintptr_t last_page = to / kPage * kPage;
  report(from, first_page, access.mode);
  for (std::uintptr_t page = first_page; page < last_page; page += kPage) {
    report(page, page + 1, access.mode);
  }
  report(last_page, to, access.mode);
}

bool reports_accesses() { return true; }

}  // namespace
}  // namespace tandem::host

#else

namespace tandem::host {
namespace {
void report_access(const Access&) {}
bool reports_accesses() { return false; }
}  // namespace
}  // namespace tandem::host

#endif

namespace tandem::host {
namespace {

// The exception in flight as an error that names the operation.
std::shared_ptr<const Error> failure_of(const char* operation) {
  try {
    throw;
  } catch (const Error& error) {
    return std::make_shared<Error>(error.reworded(error.what()));
  } catch (const std::exception& error) {
    return std::make_shared<Error>(ErrorKind::kFailure,
                                   fmt::format("{} failed: {}", operation, error.what()));
  } catch (...) {
    return std::make_shared<Error>(ErrorKind::kFailure,
                                   fmt::format("{} failed with no word of why", operation));
  }
}

void sleep_to(TimePoint time) {
  if (time == TimePoint{}) return;  // nothing is modelled, so the clock is not read
  sleep_until(time);
}

[[noreturn]] void throw_again(const Error& failure) { throw failure.reworded(failure.what()); }

// Informs those who would wait for work that its failed stream drops.
template <class Work>
void dropped(const Work& work) {
  if (work.dropped) work.dropped();
}

// Declares the access of a copy: the side on another device, or on the host, is remote.
template <class T>
Access local_or_remote(Access access, Span<T> span, DeviceId device) {
  if (span.device() != device) access.place = Access::Place::kRemote;
  return access;
}

}  // namespace

HostStream::HostStream(const HostStreamOptions& options)
    : options_(options), delays_(options.delay_seed), worker_([this] { work(); }) {
  prepared_.wait();  // writes of the worker's preparation are visible from here on
}

HostStream::~HostStream() {
  push([this] { closed_ = true; });
  worker_.join();
}

void HostStream::work() {
  try {
    prepare_worker_thread(options_.core);
  } catch (...) {
    failure_ = failure_of("starting a stream");
  }
  prepared_.count_down();
  while (!closed_) tasks_.run_next();
}

void HostStream::run(Operation& operation) {
  if (failure_) return dropped(operation);
  sleep_to(end_);
  start_late();
  for (const Access& access : operation.accesses) report_access(access);
  try {
    operation.body();
  } catch (...) {
    failure_ = failure_of(operation.name);
  }
}

void HostStream::open_log() {
  push([this] { log_.emplace(end_of_work()); });
}

void HostStream::pause_log() {
  push([this] { log_->pause(); });
}

void HostStream::resume_log() {
  push([this] {
    log_->resume();
    log_->begin(end_of_work());
  });
}

TaskLog HostStream::close_log() {
  TaskLog log;
  push([this, &log] {
    if (log_) log = *std::exchange(log_, std::nullopt);
  });
  synchronize();
  return log;
}

void HostStream::start_late() {
  if (options_.largest_delay.count() == 0) return;
  // Half of all operations start at once, so that a whole chain of operations overtakes a late one.
  if (delays_() % 2 == 0) return;
  std::uniform_int_distribution<Nanoseconds::rep> uniform(0, options_.largest_delay.count());
  sleep_until(Clock::now() + Nanoseconds(uniform(delays_)));
}

void HostStream::enqueue(Operation operation) {
  check_placement(operation.name, device(), operation.accesses);
  if (!reports_accesses()) operation.accesses = {};  // freed on the thread that made them
  push([this, operation = std::move(operation)]() mutable { run(operation); });
}

void HostStream::enqueue_due(std::function<TimePoint(TimePoint)> end_of) {
  push([this, end_of = std::move(end_of)] {
    if (failure_) return;
    end_ = end_of_work();
    end_ = std::max(end_, end_of(end_));
  });
}

void HostStream::start_after(TimePoint time) {
  push([this, time] { end_ = std::max(end_, time); });
}

void HostStream::delay(Nanoseconds duration) {
  enqueue({"delay", {}, [duration] { sleep_until(Clock::now() + duration); }});
}

std::shared_ptr<Completion> HostStream::enqueue_completion() {
  auto completion = std::make_shared<Completion>();
  tasks_.push([this, completion] {
    completion->end = end_of_work();
    if (log_ && !log_->is_paused()) log_->begin(completion->end);
    completion->failure = failure_;
    tasks_.note_carried_out();  // before waiters go on, as a waiter may ask is_done() at once
    completion->complete();
  });
  return completion;
}

void HostStream::record(Event& event) {
  auto& recorded = static_cast<HostEvent&>(event);
  TANDEM_CHECK(recorded.device() == device(), "an event of {} recorded on a stream of {}",
               to_string(recorded.device()), to_string(device()));
  recorded.set_latest(enqueue_completion());
}

void HostStream::wait(const Event& event) {
  if (options_.leaves_out_wait && options_.leaves_out_wait()) return;
  auto completion = static_cast<const HostEvent&>(event).latest();
  if (!completion) return;
  push([this, completion = std::move(completion)] {
    completion->park();
    sleep_until(completion->end);
    // The stream's later work needs work that never happened.
    if (!failure_) failure_ = completion->failure;
  });
}

void HostStream::synchronize() {
  const auto completion = enqueue_completion();
  completion->park();
  sleep_to(completion->end);
  if (completion->failure) throw_again(*completion->failure);
}

bool HostStream::is_done() {
  if (!tasks_.is_carried_out()) return false;
  if (failure_) throw_again(*failure_);
  return end_ <= Clock::now();
}

void HostStream::copy_bytes(ByteSpan destination, ConstByteSpan source) {
  std::vector<Access> accesses{local_or_remote(reads(source), source, device()),
                               local_or_remote(writes(destination), destination, device())};
  enqueue({"copy", std::move(accesses), [destination, source] {
             std::memcpy(destination.data(), source.data(),
                         static_cast<std::size_t>(source.size()));
           }});
}

void HostStream::zero_bytes(ByteSpan destination) {
  enqueue({"zero", {writes(destination)}, [destination] {
             std::memset(destination.data(), 0, static_cast<std::size_t>(destination.size()));
           }});
}

HostStream& host_stream(Stream& stream) {
  TANDEM_CHECK(stream.device().backend == Backend::kHost, "a host operation on a stream of {}",
               to_string(stream.device()));
  return static_cast<HostStream&>(stream);
}

}  // namespace tandem::host
