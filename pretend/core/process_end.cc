// SPDX-License-Identifier: Apache-2.0
//
// What a process says when it ends: its log's last lines, and how many values it read back. Python
// ends its workers by _exit(), which runs no destructors, so _exit() is answered here too.
//
// A child of fork() says what happened in the child alone. A child of vfork(), by which Python
// starts programs, says nothing: until it becomes the other program it writes to its parent's
// memory, and calls _exit() there if the other program is missing.
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pretend/core/check.h"
#include "pretend/core/log.h"
#include "pretend/core/read_back.h"

namespace {

pid_t owner = getpid();  // of this memory

void say_the_end(int status, void*) {
  if (getpid() != owner) return;
  tandem::pretend::check::say_exit(status);
  tandem::pretend::read_back::report();
  tandem::pretend::log::write_all();
}

// No handler of fork() runs for vfork().
void start_in_child() {
  owner = getpid();
  tandem::pretend::read_back::forget_parent();
  tandem::pretend::log::forget_parent();
  tandem::pretend::check::forget_parent();
}

[[maybe_unused]] const int at_exit = on_exit(say_the_end, nullptr);
[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, start_in_child);

}  // namespace

extern "C" {

[[noreturn]] void _exit(int status) {
  say_the_end(status, nullptr);
  for (;;) syscall(SYS_exit_group, status);
}
}
