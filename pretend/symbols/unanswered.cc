// SPDX-License-Identifier: Apache-2.0
//
// The functions of a library that no other code answers, from the library's list of symbols: one
// source for all libraries, since a function without an answer needs no more than its name. The
// build says which library, which list, and what "not supported" is there.
//
// They take arguments that nobody reads, which the calling conventions of x86-64 and AArch64 allow.
#include "pretend/core/log.h"

#define ACCEPTED(name)                                      \
  extern "C" int name();                                    \
  extern "C" int name() {                                   \
    tandem::pretend::accept(TANDEM_PRETEND_LIBRARY, #name); \
    return 0;                                               \
  }

#define REFUSED(name)                                       \
  extern "C" int name();                                    \
  extern "C" int name() {                                   \
    tandem::pretend::refuse(TANDEM_PRETEND_LIBRARY, #name); \
    return TANDEM_PRETEND_NOT_SUPPORTED;                    \
  }

#include TANDEM_PRETEND_SYMBOLS
