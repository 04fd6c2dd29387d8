// SPDX-License-Identifier: Apache-2.0
//
// `tandem pretend --check`: what the calls of communicators and the host's waits say to start/'s
// matcher, which knows all ranks' calls, and what it answers. Streams and events keep which calls
// stand before them; whoever waits for a stream or event waits until the matcher has seen the same
// calls of all ranks. Without --check nothing of this runs.
//
// A process has one connection, and one line per message (the other side is start/job.py):
//
//   hello RANK WORLD                       a process has a rank: at its start or first device
//   join NUMBER NAME RANK RANKS RANK WORLD the process's communicator NUMBER, whose call 1 this is
//   call NUMBER OPERATION COUNT TYPE REDUCTION ROOT BEFORE LINE OUTER
//   wait MAIN BEFORE                       of the host; MAIN is 1 in the main thread
//   leave NUMBER ABORTED
//   exit STATUS                            the process ends by itself
//   line FILE:LINE OUTER                   where its main thread is: the answer to "line"
//
// BEFORE is "NUMBER:CALL,...": each communicator's call that has to be complete. The matcher says
// "done NUMBER CALL": that call and those before it are complete. All that a word may lack is "-".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pretend/core/device.h"

namespace tandem::pretend::check {

extern bool on;  // set before main(), by the environment

struct Call {
  int communicator;  // its number in this process
  std::string what;  // operation, count, type, reduction, root: "all-reduce 68 f32 0 -1"
  Target target{};
  uint64_t number = 0;  // in its communicator; call() sets it
};

// Says the rank of a process of Python once it is known: it may end without a communicator.
void greet();

constexpr uint64_t kJoin = 1;  // the number of that call
void join(int communicator, const std::string& name, int rank, int ranks);
void leave(int communicator, bool aborted);

// The calls of a group, which begin together.
void call(std::vector<Call>& group);

// Waits of the host. They end at once where the matcher is gone.
void wait_for_call(int communicator, uint64_t call);
void wait_for_stream(Target target);
void wait_for_device(int device);
void wait_for_event(const Event* event);
[[nodiscard]] bool is_complete(Target target);
[[nodiscard]] bool is_complete(const Event* event);

// What a stream does that others wait for.
void record(const Event* event, Target target);
void let_wait(Target target, const Event* event);
void forget(const Event* event);

void say_exit(int status);
void forget_parent();  // in a child of fork(): the connection is the parent's

}  // namespace tandem::pretend::check
