// SPDX-License-Identifier: Apache-2.0
//
// Who waits for whom, for the log: conditions, semaphores and starts of threads, by the C library's
// own names, which stand before the library's where this one is preloaded. Each does what the
// library's does. A log then tells which thread's work led to which, and who held Python's lock.
//
// Python's lock has no name outside the interpreter, but two conditions: whoever lets go of it
// signals the first, and whoever has taken it signals the second, which lies behind the first and
// a mutex (CPython 3.2 to 3.14, Python/ceval_gil.c, with FORCE_SWITCHING, its default).
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <cstdint>

#include "pretend/core/log.h"

namespace {

using tandem::pretend::RecordKind;
namespace log = tandem::pretend::log;

constexpr uintptr_t kToSecond = sizeof(pthread_cond_t) + sizeof(pthread_mutex_t);

std::atomic<uintptr_t> first_of_lock{0};  // the condition that whoever lets go signals; 0: not met
std::atomic<int64_t> started{0};          // threads; numbers lie below all addresses

// The C library's function of a name. Conditions have had another layout before version 2.3.2.
template <typename Function>
Function real(std::atomic<Function>& known, const char* name) {
  Function function = known.load(std::memory_order_relaxed);
  if (function == nullptr) {
    void* found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    found = found == nullptr ? dlsym(RTLD_NEXT, name) : found;
    function = reinterpret_cast<Function>(found);
    known.store(function, std::memory_order_relaxed);
  }
  return function;
}

void note(RecordKind kind, const char* call, int64_t value) {
  log::Entry entry(call, kind);
  entry.set(value);
}

uintptr_t number_of(const void* object) { return reinterpret_cast<uintptr_t>(object); }

bool is_of_lock(const void* condition) {
  const uintptr_t first = first_of_lock.load(std::memory_order_relaxed);
  return first != 0 && (number_of(condition) == first || number_of(condition) == first + kToSecond);
}

void note_signal(const char* call, const void* condition) {
  thread_local uintptr_t last = 0;
  const uintptr_t mine = number_of(condition);
  if (first_of_lock.load(std::memory_order_relaxed) == 0 && last != 0 && mine == last + kToSecond) {
    first_of_lock.store(last, std::memory_order_relaxed);
  }
  last = mine;
  if (is_of_lock(condition)) {
    note(RecordKind::kLock, call, mine == first_of_lock.load(std::memory_order_relaxed) ? 0 : 1);
  } else {
    note(RecordKind::kPost, call, static_cast<int64_t>(mine));
  }
}

int note_wait(const char* call, const void* object, int status) {
  if (log::on && status == 0 && !is_of_lock(object)) {
    note(RecordKind::kWoken, call, static_cast<int64_t>(number_of(object)));
  }
  return status;
}

struct Start {
  void* (*function)(void*);
  void* argument;
  int64_t number;
};

void* begin(void* given) {
  auto* const start = static_cast<Start*>(given);
  const Start mine = *start;
  delete start;
  note(RecordKind::kWoken, "pthread_create", mine.number);
  return mine.function(mine.argument);
}

}  // namespace

// Each calls the C library's function of its own name with its own arguments.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define TANDEM_REAL(name, ...)                            \
  static std::atomic<int (*)(__VA_ARGS__)> real_##name{}; \
  const auto library = real(real_##name, #name)

#define TANDEM_SIGNAL(name, Object) \
  int name(Object* object) {        \
    TANDEM_REAL(name, Object*);     \
    if (log::on) {                  \
      note_signal(#name, object);   \
    }                               \
    return library(object);         \
  }

#define TANDEM_WAIT(name, Object)                     \
  int name(Object* object) {                          \
    TANDEM_REAL(name, Object*);                       \
    return note_wait(#name, object, library(object)); \
  }
// NOLINTEND(bugprone-macro-parentheses)

extern "C" {

TANDEM_SIGNAL(pthread_cond_signal, pthread_cond_t)
TANDEM_SIGNAL(pthread_cond_broadcast, pthread_cond_t)
TANDEM_SIGNAL(sem_post, sem_t)
TANDEM_WAIT(sem_wait, sem_t)
TANDEM_WAIT(sem_trywait, sem_t)

int sem_timedwait(sem_t* semaphore, const timespec* until) {
  TANDEM_REAL(sem_timedwait, sem_t*, const timespec*);
  return note_wait("sem_timedwait", semaphore, library(semaphore, until));
}

int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
  TANDEM_REAL(sem_clockwait, sem_t*, clockid_t, const timespec*);
  return note_wait("sem_clockwait", semaphore, library(semaphore, clock, until));
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  TANDEM_REAL(pthread_cond_wait, pthread_cond_t*, pthread_mutex_t*);
  return note_wait("pthread_cond_wait", condition, library(condition, mutex));
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           const timespec* until) {
  TANDEM_REAL(pthread_cond_timedwait, pthread_cond_t*, pthread_mutex_t*, const timespec*);
  return note_wait("pthread_cond_timedwait", condition, library(condition, mutex, until));
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
  TANDEM_REAL(pthread_cond_clockwait, pthread_cond_t*, pthread_mutex_t*, clockid_t,
              const timespec*);
  return note_wait("pthread_cond_clockwait", condition, library(condition, mutex, clock, until));
}

int pthread_create(pthread_t* made, const pthread_attr_t* attributes, void* (*function)(void*),
                   void* argument) {
  TANDEM_REAL(pthread_create, pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (!log::on) {
    return library(made, attributes, function, argument);
  }
  const int64_t number = ++started;
  note(RecordKind::kPost, "pthread_create", number);
  auto* const start = new Start{function, argument, number};
  const int status = library(made, attributes, begin, start);
  if (status != 0) {
    delete start;
  }
  return status;
}
}
