// SPDX-License-Identifier: Apache-2.0
//
// marked_steps STEPS STEP_BENCH-OPTION...: takes steps of a strategy, and marks their beginnings in
// the log of tandem pretend: "step 0" before the first one, "step STEPS" behind the last. All that
// a step enqueued lies between two marks, since the host waits for it.
#include <dlfcn.h>

#include <charconv>
#include <string>
#include <string_view>

#include "bench/driver/ranks_main.h"
#include "bench/job/job.h"
#include "bench/step/step_command.h"
#include "bench/step/step_options.h"
#include "bench/step/strategy_factory.h"
#include "bench/step/workload_source.h"

namespace tandem::bench {
namespace {

constexpr std::string_view kUsage =
    "use marked_steps STEPS STEP_BENCH-OPTION..., with 1 to 1000 steps, under tandem pretend";

using Mark = void (*)(const char*);

Mark find_mark() {
  const auto mark = reinterpret_cast<Mark>(dlsym(RTLD_DEFAULT, "tandem_pretend_mark"));
  if (mark == nullptr) fail(ErrorKind::kUsage, "marking steps: no log is kept here; {}", kUsage);
  return mark;
}

int parse_count(std::string_view text) {
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || end != text.data() + text.size() || count < 1 || count > 1000) {
    fail(ErrorKind::kUsage, "marking '{}' steps: {}", text, kUsage);
  }
  return count;
}

int take_steps(int count, const StepOptions& options, Bootstrap& bootstrap) {
  const Mark mark = find_mark();
  Job job = open_job(bootstrap, options.job);
  const auto model = make_model_for(options);
  const auto strategy = make_strategy_together(bootstrap, job, *model, options.variant);
  for (int step = 0; step < count; ++step) {
    mark(fmt::format("step {}", step).c_str());
    strategy->step();
    strategy->synchronize();
  }
  mark(fmt::format("step {}", count).c_str());
  return 0;
}

}  // namespace
}  // namespace tandem::bench

int main(int argc, char** argv) {
  using namespace tandem::bench;
  restart_in_clean_environment(argv);
  return run_ranks_main({.program = "marked_steps"}, argc, argv, [&](tandem::Bootstrap& bootstrap) {
    const int count = parse_count(argc > 1 ? argv[1] : "");
    const auto command = parse_step_command(argc - 1, argv + 1);
    return command ? take_steps(count, command->step, bootstrap) : 0;
  });
}
