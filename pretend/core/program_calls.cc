// SPDX-License-Identifier: Apache-2.0
//
// What a program may ask of the pretended GPUs by name, as by Python's ctypes.CDLL(None).
#include "pretend/core/log.h"
#include "pretend/core/read_back.h"

extern "C" {

// Sets a mark in the log: a program that knows its steps can name them.
void tandem_pretend_mark(const char* text) {
  tandem::pretend::log::Entry entry("tandem_pretend_mark", tandem::pretend::RecordKind::kMark);
  entry.text(tandem::pretend::log::keep(text));
}

// How many values this process has read back so far.
int64_t tandem_pretend_read_back() { return tandem::pretend::read_back::count(); }
}
