// SPDX-License-Identifier: Apache-2.0
//
//   nvtx_cost SETS OPTION...    what NVTX costs a step where no tool is attached
//
// OPTIONs are step_bench's, and it is started as that is: alone, or in every rank by mpirun. Three
// sides of one job take turns: a step that nobody observes; one as step_bench times it, whose
// observers are all that runs where no tool is attached; and one with NvtxObserver beside them,
// whose ranges nobody sees. Prints the ratios of the latter two to the first, of SETS of 40 rounds,
// each built anew, in all orders: where a side's memory lies costs a small step more than what is
// looked for.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "bench/driver/ranks_main.h"
#include "bench/observe/flight_log.h"
#include "bench/passes/pair_measurement.h"
#include "bench/step/step_command.h"
#include "bench/step/step_options.h"
#include "bench/step/step_watch.h"
#include "bench/step/workload_source.h"
#include "common/base/error.h"
#include "common/stats/comparison.h"
#include "common/stats/summary.h"
#include "common/trace/nvtx_observer.h"

namespace tandem::bench {
namespace {

constexpr std::size_t kSides = 3;
constexpr int kRounds = 40;  // of a set
using Variants = std::array<Variant, kSides>;
using Sets = std::vector<std::array<std::vector<double>, kSides>>;  // seconds by round

// Each is followed by its reverse, for the second set of a pair.
constexpr std::array<std::array<std::size_t, kSides>, 6> kOrders{
    {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {0, 2, 1}, {2, 0, 1}, {1, 0, 2}}};

Variants variants_of(const StepOptions& options, NvtxObserver& ranges) {
  Variants all{options.variant, options.variant, options.variant};
  all[0].training.phases.observers.clear();
  auto& observers = all[2].training.phases.observers;
  observers.insert(observers.begin(), &ranges);
  return all;
}

// All sides of a set, built, warmed up and timed in this order, and then in the reverse.
std::array<std::vector<double>, kSides> take_set(Job& job, const StepOptions& options,
                                                 const Model& model, const Variants& variants,
                                                 const std::array<std::size_t, kSides>& order) {
  std::array<std::unique_ptr<InterleavedSide>, kSides> sides;
  for (const std::size_t side : order) {
    sides[side] = std::make_unique<InterleavedSide>(job, options, model, variants[side]);
  }
  for (const std::size_t side : order) sides[side]->warm_up(brief_warmup(options));
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < kSides; ++i) sides[order[i]]->take();
    for (std::size_t i = kSides; i > 0; --i) sides[order[i - 1]]->take();
    for (const auto& side : sides) side->end_round();
  }
  return {sides[0]->seconds(), sides[1]->seconds(), sides[2]->seconds()};
}

Sets take_sets(Job& job, const StepOptions& options, const Model& model, int count) {
  const nvtx::Domain domain;
  NvtxObserver ranges(domain, options.job.launch == Launch::kThreads
                                  ? NvtxObserver::Enqueuers::kSeveral
                                  : NvtxObserver::Enqueuers::kOneThread);
  const Variants variants = variants_of(options, ranges);
  Sets sets;
  while (static_cast<int>(sets.size()) < count) {
    const auto& order = kOrders[sets.size() % kOrders.size()];
    sets.push_back(take_set(job, options, model, variants, order));
  }
  return sets;
}

void print_ratio(const char* what, const Sets& sets, std::size_t side) {
  std::vector<stats::PairedTimes> pairs;
  for (const auto& set : sets) pairs.push_back({.a = set[0], .b = set[side]});
  const stats::Estimate ratio = stats::ratio_of_paired_sets(pairs);
  fmt::print("{} over no observer: {:.4f}{}\n", what, ratio.center,
             ratio.interval ? fmt::format(" (95 % interval {:.4f} to {:.4f})", ratio.interval->low,
                                          ratio.interval->high)
                            : std::string(" (too few for an interval)"));
}

int report(const Sets& sets) {
  std::vector<double> bare;
  for (const auto& set : sets) bare.insert(bare.end(), set[0].begin(), set[0].end());
  fmt::print("step without an observer: {:.2f} us, median of {} rounds in {} sets\n",
             stats::median(bare) * 1e6, bare.size(), sets.size());
  print_ratio("no tool attached", sets, 1);
  print_ratio("ranges that nobody sees", sets, 2);
  return 0;
}

int run(StepOptions options, int sets, Bootstrap& bootstrap, FlightLog& flight) {
  StepWatch watch(options, bootstrap, flight);
  Job job = open_job(bootstrap, options.job);
  const auto model = make_model_for(options);
  PairOptions no_pair;
  watch.attach(options, no_pair, job);
  if (options.ranges != nullptr) {
    fail(ErrorKind::kUsage,
         "a tool is attached, and its cost is what this would show: "
         "start it without");
  }
  return aborting_on_error(
      job.rank_exit, [&] { abort(job); },
      [&] {
        const Sets taken = take_sets(job, options, *model, sets);
        return bootstrap.rank() == 0 ? report(taken) : 0;
      });
}

int sets_of(const std::string& text) {
  int sets = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), sets);
  if (error != std::errc{} || end != text.data() + text.size() || sets < 2) {
    fail(ErrorKind::kUsage, "'{}' is no number of sets from 2 on", text);
  }
  return sets;
}

int run_as_launched(int argc, char** argv) {
  if (argc < 2) fail(ErrorKind::kUsage, "give the number of sets, then step_bench's options");
  const int sets = sets_of(argv[1]);
  argv[1] = argv[0];
  int rest = argc - 1;
  char** words = argv + 1;
  const auto command = parse_step_command(rest, words);
  if (!command) return 0;
  const StepOptions& options = command->step;
  check_launch(options.job.launch);
  return run_recorded("nvtx_cost", options.job, "", rest, words,
                      [&](Bootstrap& bootstrap, FlightLog& flight) {
                        return run(options, sets, bootstrap, flight);
                      });
}

}  // namespace
}  // namespace tandem::bench

int main(int argc, char** argv) {
  using namespace tandem::bench;
  restart_in_clean_environment(argv);
  return run_main("nvtx_cost", [&] { return run_as_launched(argc, argv); });
}
