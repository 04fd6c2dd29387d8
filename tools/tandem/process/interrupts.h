// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <csignal>
#include <string>

#include "common/base/error.h"

namespace tandem::cli {

// The signals that ask for an orderly end.
inline constexpr std::array kInterruptSignals{SIGINT, SIGTERM, SIGHUP};

// The exit status of a command that a signal asked to end, as shells give it: 128 and the signal's
// number, 130 for SIGINT, 143 for SIGTERM.
[[nodiscard]] int interrupted_exit();

// What was asked for did not happen, since a signal asked to end.
class Interrupted : public Error {
 public:
  explicit Interrupted(const std::string& what)
      : Error(ErrorKind::kFailure, what + ": interrupted") {}
};

// While an Interrupts object lives, kInterruptSignals ask for an orderly end instead of ending the
// process. Only one object may live at a time. descriptor() becomes readable with the first signal,
// so that poll() wakes.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  [[nodiscard]] bool requested() const;
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

}  // namespace tandem::cli
