// SPDX-License-Identifier: Apache-2.0
#include "bench/driver/ranks_main.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <thread>
#include <vector>

#include "common/base/this_process.h"
#include "common/comm/mpi/mpi_bootstrap.h"
#include "common/command_line/help.h"
#include "common/command_line/parsing.h"

namespace tandem::bench {

namespace {

// The text that the signal handler writes: filled in before the handler is installed.
std::array<char, 160> notice;
std::size_t notice_size = 0;

// The signal has its default action again by now: raised once more, the signal ends the process as
// soon as this handler returns.
extern "C" void say_and_end(int signal) {
  static_cast<void>(::write(STDERR_FILENO, notice.data(), notice_size));
  static_cast<void>(::raise(signal));
}

// Whether all ranks met the error: usage errors and agreed errors are the same on every rank; other
// errors may occur on one rank alone.
bool met_together(const Error& error) {
  return error.kind() == ErrorKind::kUsage || error.reach() == Error::Reach::kAllRanks;
}

// A launcher ends all ranks once one rank has left with an error, and Open MPI 5 may do so before
// rank 0 has printed its line: ranks that print nothing leave behind rank 0.
constexpr std::chrono::milliseconds kBehindRank0{500};

// Prints the error before MPI ends, as a rank that left without a line would hide the reason. Rank
// 0 prints errors that all ranks met; every rank that lost a peer says so, since rank 0 may be the
// lost peer.
int report(const std::string& program, const Error& error) {
  if (met_together(error) && announced_rank() != 0) {
    std::this_thread::sleep_for(kBehindRank0);
  } else {
    // The line is written in one piece, as the launcher writes to the same place.
    std::cerr << fmt::format("{}: {}\n", program, error.what());
  }
  return error.exit_code();
}

}  // namespace

void tell_of_interrupt(const std::string& program) {
  struct sigaction before {};
  const bool is_known = ::sigaction(SIGINT, nullptr, &before) == 0;
  if (!is_known || before.sa_handler != SIG_DFL || announced_rank() != 0) return;
  const std::string text = program + ": interrupted: what was measured is lost; start it again\n";
  notice_size = std::min(text.size(), notice.size());
  std::copy_n(text.begin(), notice_size, notice.begin());
  struct sigaction action {};
  action.sa_handler = say_and_end;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // SA_RESETHAND is unsigned in glibc
  static_cast<void>(::sigaction(SIGINT, &action, nullptr));
}

void restart_in_clean_environment(char** argv) {
  std::vector<char*> kept;
  std::string ignored;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (changes_the_measurement(*variable)) {
      ignored.append(" ").append(*variable, std::strcspn(*variable, "="));
    } else {
      kept.push_back(*variable);
    }
  }
  if (ignored.empty()) return;
  std::fprintf(stderr, "ignored, as they would change what is measured:%s\n", ignored.c_str());
  kept.push_back(nullptr);
  execve(program_starter().c_str(), argv, kept.data());
  // If the restart failed, the effects of the variables show in the record (the library's
  // instruction set, the cores).
}

bool parse_arguments(CLI::App& app, int argc, const char* const* argv) {
  app.allow_extras();
  command_line::use_plain_help(app);
  if (!command_line::parse(app, argc, argv)) return false;
  const std::vector<std::string> extras = app.remaining();
  if (!extras.empty()) command_line::refuse(app, extras.front());
  return true;
}

int run_main(const std::string& program, const std::function<int()>& body) {
  int status = 0;
  const auto error = capture_error([&] {
    status = body();
    // Flushes here, and not when the buffer is written behind main, where a failure goes unnoticed.
    if (std::cout.flush()) return;
    fail(ErrorKind::kFailure,
         "writing to standard output failed; is the disk full? lead it elsewhere");
  });
  return error ? report(program, *error) : status;
}

int run_ranks_main(const RanksMain& how, int& argc, char**& argv,
                   const std::function<int(Bootstrap&)>& body) {
  MpiSession mpi(argc, argv, {.deadline = how.deadline, .rank_exit = how.rank_exit});
  std::unique_ptr<Bootstrap> bootstrap;
  int status = 0;
  const auto error = capture_error([&] {
    bootstrap = mpi.bootstrap();
    status = body(*bootstrap);
  });
  if (!error) return status;
  how.rank_exit.report(*error);
  status = report(how.program, *error);
  if (bootstrap && bootstrap->size() > 1 && !met_together(*error)) {
    how.rank_exit.leave(*error);
    bootstrap->abort(status);
  }
  return status;
}

}  // namespace tandem::bench
