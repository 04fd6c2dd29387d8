// SPDX-License-Identifier: Apache-2.0
//
// What a process says when it ends: its log's last lines, and how many values it read back. Python
// ends its workers by _exit(), which runs no destructors, so _exit() is answered here too.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#include "pretend/core/log.h"
#include "pretend/core/read_back.h"

namespace {

void say_the_end() {
  tandem::pretend::read_back::report();
  tandem::pretend::log::write_all();
}

[[maybe_unused]] const int registered = std::atexit(say_the_end);

}  // namespace

extern "C" {

// Sets a mark in the log: a program that knows its steps can name them (ctypes.CDLL(None)).
void tandem_pretend_mark(const char* text) {
  tandem::pretend::log::Entry entry("tandem_pretend_mark", tandem::pretend::RecordKind::kMark);
  entry.text(tandem::pretend::log::keep(text));
}

[[noreturn]] void _exit(int status) {
  say_the_end();
  for (;;) {
    syscall(SYS_exit_group, status);
  }
}
}
