// SPDX-License-Identifier: Apache-2.0
#include "bench/step/same_options.h"

#include <fmt/format.h>

#include <sstream>
#include <string>
#include <vector>

#include "bench/step/step_list.h"
#include "common/base/error.h"

namespace tandem::bench {
namespace {

std::string strategies_of(const StepOptions& options) {
  std::string names;
  for (const StepOptions& one : each_listed(options)) {
    if (!names.empty()) names += ',';
    names += to_string(one.variant.strategy);
  }
  return names;
}

// A line per option that decides the work of a rank, always in the same order.
std::string text_of(const StepOptions& options) {
  std::string text = fmt::format(
      "--devices={}\n--strategy={}\n--launch={}\n--model={}\n--batch={}\n--seed={}\n",
      options.place.devices, strategies_of(options), to_string(options.place.launch), options.model,
      options.variant.training.global_batch, options.variant.training.seed);
  text += fmt::format("--free-running={}\n--min-time={}\n--min-samples={}\n", options.free_running,
                      tandem::to_string(Seconds(options.min_time)), options.min_samples);
  text += fmt::format("--warmup-time={}\n--warmup-steps={}\n",
                      tandem::to_string(Seconds(options.warmup_time)), options.warmup_steps);
  text +=
      fmt::format("--verify={}\n--ab={}\n--pairs={}\n", options.verify, options.ab, options.pairs);
  text +=
      fmt::format("--peak-gflops={}\n",
                  options.peak.is_measured ? "measured" : fmt::format("{}", options.peak.gflops));
  text += fmt::format(
      "--benchmark_filter={}\n--benchmark_list_tests={}\n--benchmark_repetitions={}\n",
      options.benchmark.filter.text(), options.benchmark.lists, options.benchmark.repetitions);
  text += fmt::format("--trace={}\n--trace-steps={}\n", options.trace_file.empty() ? "no" : "yes",
                      options.traced_samples);
  text += fmt::format("--contention={}\n--contention-pairs={}\n",
                      options.contention_file.empty() ? "no" : "yes", options.contention_pairs);
  for (const auto& [name, value] : options.named) text += fmt::format("--{}={}\n", name, value);
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Reports the first line that only one side has; past the end a side has "nothing".
[[noreturn]] void report(int rank, const std::string& theirs, const std::string& first) {
  const std::vector<std::string> of_rank = lines_of(theirs);
  const std::vector<std::string> of_first = lines_of(first);
  std::size_t i = 0;
  while (i < of_rank.size() && i < of_first.size() && of_rank[i] == of_first[i]) ++i;
  const auto line = [i](const std::vector<std::string>& lines) {
    return i < lines.size() ? lines[i] : "none of it";
  };
  fail(ErrorKind::kUsage,
       "rank {} was started with other options than rank 0: {} instead of {}; give every rank the "
       "same",
       rank, line(of_rank), line(of_first));
}

}  // namespace

void check_same_options(Bootstrap& bootstrap, const StepOptions& options) {
  const std::vector<std::string> texts = bootstrap.all_gather(text_of(options));
  for (std::size_t rank = 1; rank < texts.size(); ++rank) {
    if (texts[rank] != texts[0]) report(static_cast<int>(rank), texts[rank], texts[0]);
  }
}

}  // namespace tandem::bench
