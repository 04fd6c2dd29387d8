// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "bench/driver/flag_values.h"
#include "bench/driver/option_lines.h"
#include "bench/driver/ranks_main.h"
#include "common/base/text.h"
#include "common/comm/bootstrap.h"
#include "common/command_line/adding.h"

namespace tandem::bench {
namespace {

using command_line::add;
using command_line::add_usual;

constexpr std::array kTypes{Choice<DType>{"fp32", DType::kFloat32},
                            Choice<DType>{"bf16", DType::kBFloat16},
                            Choice<DType>{"fp16", DType::kFloat16}};
constexpr std::array kReduceOps{Choice<ReduceOp>{"average", ReduceOp::kAverage},
                                Choice<ReduceOp>{"sum", ReduceOp::kSum}};

struct Flags {
  std::string collective = "all_reduce";
  std::string sizes = "1KiB:64MiB";
  std::string in_place = "on";
  std::string type = "fp32";
  std::string op = "average";
  std::optional<int> free_running{};
  int samples = 50;
};

void declare_cases(CLI::App& app, Flags& flags) {
  add_usual(app, "--collective NAME,...", flags.collective,
            "all, or some of all_reduce, broadcast, reduce, scatter, gather");
  add_usual(app, "--sizes BYTES", flags.sizes,
            "bytes of the larger buffer: a range that doubles, or with a factor (1KiB:1GiB:4), or "
            "a list (1MiB,16MiB); what does not fit into memory is skipped");
  add_usual(app, "--in-place on|off|both", flags.in_place,
            "all_reduce: whether the result lies where the operand lay; the others have one form");
  add_usual(app, "--dtype fp32|bf16|fp16", flags.type, "the elements' type");
  add_usual(app, "--op average|sum", flags.op, "for all_reduce");
}

void declare_samples(CLI::App& app, Flags& flags) {
  add(app, "--free-running COUNT", flags.free_running,
      "calls per sample, back to back, between one barrier and one wait; on the host all are "
      "queued before the clock starts; default: 1, on GPUs 20 as in nccl-tests");
  add_usual(app, "--samples COUNT", flags.samples, "per size and form; 1000 or more give p99");
  app.footer(
      "Examples:\n"
      "  collective_bench --launch=threads --devices=2 --sizes=1KiB:64MiB:4\n"
      "  mpirun -np 2 --bind-to none collective_bench --collective=all_reduce,broadcast\n"
      "Exit status: 0 measured, 1 failed, 2 wrong usage.");
}

std::vector<Collective> collectives_of(const std::string& text) {
  std::vector<Collective> collectives;
  for (const std::string_view part : split(text, ',')) {
    if (part == "all") {
      for (const auto& choice : kCollectives) collectives.push_back(choice.value);
    } else {
      collectives.push_back(choose("--collective", part, kCollectives));
    }
  }
  std::vector<Collective> once;
  for (const Collective collective : collectives) {
    if (std::ranges::count(once, collective) == 0) once.push_back(collective);
  }
  return once;
}

std::vector<BufferUse> forms_of(const std::string& text) {
  using Asked = Choice<std::vector<BufferUse>>;
  return choose(
      "--in-place", text,
      std::array{Asked{"on", {BufferUse::kInPlace}}, Asked{"off", {BufferUse::kOutOfPlace}},
                 Asked{"both", {BufferUse::kInPlace, BufferUse::kOutOfPlace}}});
}

// Throws usage errors for options that are wrong whatever the sizes are.
void check(const CollectiveOptions& options) {
  check_samples(options.samples);
  if (options.calls && (*options.calls < 1 || *options.calls > 100'000)) {
    fail(ErrorKind::kUsage, "--free-running={}: use 1 to 100000 calls", *options.calls);
  }
  if (options.job.transport == Transport::kMpi && options.job.launch == Launch::kThreads) {
    fail(ErrorKind::kUsage, "--comm=mpi has processes for ranks: use --launch=processes");
  }
}

void add_case(std::vector<CollectiveCase>& cases, const CollectiveCase& added) {
  for (CollectiveCase& present : cases) {
    if (present.collective != added.collective || present.form != added.form) continue;
    if (present.count == added.count) return;  // two sizes have become one by cutting
  }
  cases.push_back(added);
}

}  // namespace

std::optional<CollectiveOptions> parse_collective_options(int argc, const char* const* argv) {
  CLI::App app("Times collectives among the ranks of a job, beside memcpy on all ranks.",
               "collective_bench");
  Flags flags;
  declare_cases(app, flags);
  declare_samples(app, flags);
  const OptionLines lines(
      app, {"launch", "devices", "backend", "comm", "device-memory", "oversubscribe", "gpus", "p2p",
            "gpu-wait", "bind", "comm-timeout", "flight-dir"});
  CollectiveOptions options;
  declare_benchmark_flags(app, options.benchmark);
  if (!parse_arguments(app, argc, argv)) return std::nullopt;
  options::Values values = lines.values();
  if (!values.is_given("launch")) values.give("launch", "processes");
  give_devices_started(values);
  options.job = job_options(values);
  options.flight_dir = values.text("flight-dir");
  options.collectives = collectives_of(flags.collective);
  options.forms = forms_of(flags.in_place);
  options.type = choose("--dtype", flags.type, kTypes);
  options.op = choose("--op", flags.op, kReduceOps);
  options.calls = flags.free_running;
  options.samples = flags.samples;
  options.sizes = parse_sizes(flags.sizes, "--sizes");
  check(options);
  static_cast<void>(cases_of(options));  // refuses sizes before ranks are started
  return options;
}

// On GPUs a lone call's time is mostly the host's: its launch and the wait.
int calls_per_sample(const CollectiveOptions& options, Backend backend) {
  constexpr int kOnGpus = 20;  // nccl-tests' -n
  return options.calls.value_or(backend == Backend::kCuda ? kOnGpus : 1);
}

std::vector<CollectiveCase> cases_of(const CollectiveOptions& options) {
  const int ranks = options.job.devices;
  const std::int64_t element = size_of(options.type);
  std::vector<CollectiveCase> cases;
  for (const Collective collective : options.collectives) {
    for (const Bytes size : options.sizes) {
      CollectiveCase added{.collective = collective,
                           .count = size.value / element,
                           .type = options.type,
                           .op = options.op};
      if (added.count < 1) {
        fail(ErrorKind::kUsage, "--sizes: {} B is less than one element of {}: use {}B or more",
             size.value, tandem::name_of(options.type), element);
      }
      if (is_in_blocks(collective)) added.count -= added.count % ranks;
      if (added.count == 0) {
        fail(ErrorKind::kUsage,
             "{}: {} B is less than one element of {} for each of {} ranks: use {}B or more",
             name_of(collective, kCollectives), size.value / element * element,
             tandem::name_of(options.type), ranks, ranks * element);
      }
      for (const BufferUse form : options.forms) {
        added.form = collective == Collective::kAllReduce ? form : BufferUse::kOnly;
        add_case(cases, added);
      }
    }
  }
  return cases;
}

}  // namespace tandem::bench
