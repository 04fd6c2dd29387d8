// SPDX-License-Identifier: Apache-2.0
#include "common/options/rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "common/base/known_names.h"
#include "common/base/text.h"

namespace tandem::options {
namespace {

// A fact about one option of a command line.
struct Fact {
  enum class Kind { kGiven, kAbsent, kSet, kIs, kIsNot };

  Kind kind = Kind::kGiven;
  Name option;
  std::string_view names{};  // of kIs and kIsNot, "one|two"
};

// string_view::find compares pointers, which g++ 12 refuses in a constant under
// -fsanitize=undefined.
consteval std::size_t place_of(char wanted, std::string_view text) {
  for (std::size_t place = 0; place < text.size(); ++place) {
    if (text[place] == wanted) return place;
  }
  return std::string_view::npos;
}

// Whether `choices`, "one|two:RANK", have one of that name.
consteval bool have(std::string_view choices, std::string_view name) {
  const std::size_t bar = place_of('|', choices);
  const std::string_view first = choices.substr(0, bar);
  if (first.substr(0, place_of(':', first)) == name) return true;
  return bar != choices.npos && have(choices.substr(bar + 1), name);
}

// Whether each of `names` is a choice of the option; true where the table lists no choices.
consteval bool are_choices(std::string_view names, Name option) {
  const Form form = option->value.form;
  if (form != Form::kChoice && form != Form::kSwitch) return true;
  const std::size_t bar = place_of('|', names);
  if (!have(option->value.takes, names.substr(0, bar))) return false;
  return bar == names.npos || are_choices(names.substr(bar + 1), option);
}

// The option is on the command line, or is not.
constexpr Fact given(Name option) { return {Fact::Kind::kGiven, option}; }
constexpr Fact absent(Name option) { return {Fact::Kind::kAbsent, option}; }
// The value differs from its default.
constexpr Fact set(Name option) { return {Fact::Kind::kSet, option}; }
// The value in force is one of `names`, or is none of them. A name that is no choice of the option
// does not compile.
consteval Fact is(Name option, std::string_view names, Fact::Kind kind = Fact::Kind::kIs) {
  if (!are_choices(names, option)) throw "the option has no such choice";
  return {kind, option, names};
}
consteval Fact is_not(Name option, std::string_view names) {
  return is(option, names, Fact::Kind::kIsNot);
}

bool holds(const Fact& fact, const Values& values) {
  switch (fact.kind) {
    case Fact::Kind::kGiven:
      return values.is_given(fact.option);
    case Fact::Kind::kAbsent:
      return !values.is_given(fact.option);
    case Fact::Kind::kSet:
      return values.is_set(fact.option);
    case Fact::Kind::kIs:
      return values.is(fact.option, fact.names);
    case Fact::Kind::kIsNot:
      return !values.is(fact.option, fact.names);
  }
  return false;
}

// Refused where one of `any` holds, and all of `when`.
struct Rule {
  std::vector<Fact> any;
  std::vector<Fact> when;
  // {option}: the flag of `any` that holds; {strategy}: the strategy in force; {run}: the same,
  // with its launch where it has both
  std::string_view refusal;
};

// The rules on ways to train: with --ab both sides are held against the rules.
std::vector<Rule> training_rules() {
  return {
      {{is("input", "scatter")},
       {is_not("strategy", "dp-allreduce")},
       "{option}=scatter is an option of dp-allreduce; {strategy} has host, pageable or device"},
      {{is("interpreter-lock", "on")},
       {absent("dispatch-cost")},
       "{option} does nothing without --dispatch-cost: give the cost of a call, such as "
       "--dispatch-cost=8us"},
      {{is("check-order", "on")},
       {is("comm", "auto|shared_memory")},
       "{option} does nothing but with --comm=mpi or nccl: leave it out"},
      {{is("conv-fp32", "on")},
       {is_not("precision", "fp32")},
       "{option} applies to fp32, and the precision is another: leave it out"},
      {{set("channels-last"), set("conv-fp32"), set("comm-priority")},
       {is("backend", "host")},
       "{option} applies to GPUs, and the back end is host: leave it out"},
      {{is("comm", "shared_memory|mpi")},
       {is("backend", "cuda"), is("oversubscribe", "off")},
       "{option}: shared_memory and mpi move the host's memory, and collectives between GPUs are "
       "NCCL's: leave it out; ranks that share a GPU go through the host by themselves"},
  };
}

// The rules on what a run of step_bench looks at.
std::vector<Rule> run_rules() {
  return {
      {{is("interpreter-lock", "on")},
       {is("strategy", "single|ddp|ddp-replicate")},
       "{option} does nothing for {strategy}, whose processes dispatch from one thread each: leave "
       "it out"},
      {{absent("ab")},
       {is("run", "pair")},
       "{option} is missing: give the change, such as --ab=grads=views"},
      {{absent("file")},
       {is("run", "trace|calibrate")},
       "{option} is missing: give the file to write"},
      {{is("strategy", "single|independent|dp"), is("devices", "1")},
       {is("fault", "diverges")},
       "--fault=diverges needs collectives to differ in: ddp, ddp-replicate or dp-allreduce on 2 "
       "devices or more"},
      {{is("launch", "threads"), is("devices", "1")},
       {is("fault", "late")},
       "--fault=late needs others that wait: 2 processes or more"},
      {{is("launch", "threads"), is("devices", "1")},
       {is("fault", "stopped")},
       "--fault=stopped stops a whole process, and needs others that wait for it: 2 processes or "
       "more"},
      {{given("record")},
       {given("profile-steps")},
       "{option}: a profiled launch is slower than it is, and its times are no record: give one of "
       "the two"},
  };
}

// A simulated step (simulate/): nothing is computed, no machine is looked at, and
// one rank stands for all.
std::vector<Rule> simulation_rules() {
  return {
      {{given("hardware"), given("calibration"), given("single-step")},
       {is_not("backend", "simulated")},
       "{option} does nothing without --backend=simulated: leave it out"},
      {{given("single-step")},
       {absent("hardware")},
       "{option} scales the operations of a described machine: give --hardware"},
      {{absent("hardware")},
       {is("backend", "simulated"), absent("calibration")},
       "--backend=simulated: which machine? give its name or the file that describes it, with "
       "{option}, or the file of a measured one, with --calibration"},
      {{set("channels-last"), set("conv-fp32")},
       {given("calibration")},
       "--calibration has times of operations on images as they are by default: leave {option} "
       "out"},
      {{is("run", "verify"), given("fault")},
       {is("backend", "simulated")},
       "{option} looks at numbers, and --backend=simulated computes none: leave it out"},
      {{is("run", "pair|calibrate"), given("profile-steps"), is("peak-gflops", "measured")},
       {is("backend", "simulated")},
       "{option} measures, and --backend=simulated measures nothing: leave it out"},
      {{is("oversubscribe", "on"), set("gpus"), set("gpu-wait"), set("bind"), set("comm"),
        set("check-order")},
       {is("backend", "simulated")},
       "{option} applies to a machine that is there, and --backend=simulated uses the one that "
       "--hardware describes: leave it out"},
  };
}

[[noreturn]] void refuse(const Rule& rule, Name option, const Values& values) {
  const std::string strategy = values.in_force("strategy");
  const std::string run = traits_of(values.strategy()).has_both_launches
                              ? fmt::format("{} as {}", strategy, values.in_force("launch"))
                              : strategy;
  fail(ErrorKind::kUsage, "{}",
       fmt::format(fmt::runtime(rule.refusal),
                   fmt::arg("option", option->is(kWord) ? "step_bench " + values.in_force(option)
                                                        : option.flag()),
                   fmt::arg("strategy", strategy), fmt::arg("run", run)));
}

void check_rules(const std::vector<Rule>& rules, const Values& values) {
  for (const Rule& rule : rules) {
    const auto all = [&](const Fact& fact) { return holds(fact, values); };
    if (!std::ranges::all_of(rule.when, all)) continue;
    const auto found = std::ranges::find_if(rule.any, all);
    if (found != rule.any.end()) refuse(rule, found->option, values);
  }
}

void require(bool condition, const std::string& refusal) {
  if (!condition) fail(ErrorKind::kUsage, "{}", refusal);
}

void check_devices(StrategyKind strategy, const Values& values) {
  require(strategy != StrategyKind::kSingle || values.is("devices", "1"),
          fmt::format("--devices={}: single is one device; use another strategy",
                      values.in_force("devices")));
}

void check_launch(const StrategyTraits& traits, const Values& values) {
  require(traits.has_both_launches || launch(values) == traits.launch,
          fmt::format("--launch={}: {} runs as {}; only independent runs as both",
                      values.in_force("launch"), traits.name, name_of(traits.launch)));
}

void check_owners(const Values& values) {
  for (const Option& option : kOptions) {
    if (!values.is_given(option) || has_option(values.in_force("strategy"), option)) continue;
    fail(ErrorKind::kUsage, "{} is an option of {} and does nothing here: leave it out",
         Name(option).flag(), in_words(option.of.strategies));
  }
}

// Each option is of the runs that read it.
void check_runs(const Values& values) {
  for (const Option& option : kOptions) {
    if (!values.is_given(option) || option.runs.empty() || values.is("run", option.runs)) continue;
    fail(ErrorKind::kUsage,
         "{} is an option of step_bench {} and does nothing for {}: leave it out",
         Name(option).flag(), fmt::join(split(option.runs, '|'), ", "), values.in_force("run"));
  }
}

// Rules that no row of two options says.
void check_rest(const Values& values) {
  require(!values.is_given("output-device") ||
              values.in_force("device-ids").find(',') != std::string::npos,
          "--output-device does nothing with one device, whose outputs stay there: leave it out");
}

Kinds varied_in(Name name) {
  return name->varied_in.empty() ? name->of.strategies : name->varied_in;
}

// Both sides of a pair run in one process, on the devices of one launch.
void check_sides(const Values& values, const Values& changed, const std::string& ab) {
  if (values.is("devices", "1")) return;
  const StrategyTraits& other = traits_of(changed.strategy());
  check_devices(other.kind, values);
  require(other.has_both_launches || other.launch == launch(values),
          fmt::format("--ab={}: {} and {} are launched differently, and on {} devices cannot share "
                      "a process: compare them with tandem run",
                      ab, values.in_force("strategy"), other.name, values.in_force("devices")));
}

// The option that --ab names. Throws where it cannot change within a process.
const Option& paired_option(const std::string& ab) {
  const std::string name = ab.substr(0, ab.find('='));
  require(ab.size() > name.size() + 1 && !name.empty(),
          fmt::format("--ab={}: give an option and its other value, such as grads=views", ab));
  const Option* const option = find_option(name);
  if (option != nullptr && option->is(kPaired)) return *option;
  const std::vector<std::string_view> known = names_with(kPaired);
  fail(ErrorKind::kUsage, "--ab={}: '{}' cannot change within a process: use one of {}{}", ab, name,
       fmt::join(known, ", "), did_you_mean(name, known));
}

}  // namespace

void check_forms(const Values& values) {
  // Without a strategy all that have the given options are timed.
  const std::string strategy = values.is_given("strategy") ? values.in_force("strategy") : "";
  for (const Option& option : kOptions) {
    if (!values.is_given(option)) continue;
    check_form(option, values.in_force(option), strategy);
  }
}

void check(const Values& values) {
  check_forms(values);
  static_cast<void>(global_batch(values));
  check_devices(values.strategy(), values);
  check_owners(values);
  check_runs(values);
  check_launch(traits_of(values.strategy()), values);
  for (const auto& rules : {training_rules(), run_rules(), simulation_rules()}) {
    check_rules(rules, values);
  }
  check_rest(values);
}

std::int64_t global_batch(const Values& values) {
  const std::int64_t whole = values.integer("batch");
  const std::int64_t share = values.integer("batch-per-device");
  require((whole == 0) != (share == 0) || whole < 0 || share < 0,
          "give a batch of at least 1 with exactly one of --batch (over all devices) and "
          "--batch-per-device");
  // The limit keeps every product of a sample count with a width or a number of devices within 64
  // bits.
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  for (const std::int64_t given : {whole, share}) {
    require(
        given <= kMost,
        fmt::format("a batch of {} is more than any machine holds: use {} or less", given, kMost));
  }
  const std::int64_t batch = whole != 0 ? whole : share * values.integer("devices");
  require(batch >= 1, fmt::format("a batch of {} holds no sample: use 1 or more", batch));
  return batch;
}

Launch launch(const Values& values) {
  return values.pick("launch", {Launch::kThreads, Launch::kProcesses});
}

Values with_change(const Values& values) {
  const std::string ab = values.text("ab");
  const Option& option = paired_option(ab);
  const std::string value = ab.substr(option.name.size() + 1);
  require(values.in_force(option) != value,
          fmt::format("--ab={}: that is the value without it", ab));
  check_form(option, value);
  Values changed = values;
  changed.give(option, value);
  const std::string strategy = values.in_force("strategy");
  require(has_option(strategy, option),
          fmt::format("--ab={}: --{} is an option of {} and does nothing for {}", ab, option.name,
                      in_words(option.of.strategies), strategy));
  check_sides(values, changed, ab);
  check_rules(training_rules(), changed);
  return changed;
}

bool has_option(std::string_view strategy, Name name) {
  return is_among(strategy, name->of.strategies);
}

bool is_varied_in(std::string_view strategy, Name name) {
  return is_among(strategy, varied_in(name));
}

std::string in_words(Kinds kinds, std::string_view between) {
  if (kinds.empty()) return "every strategy";
  std::vector<std::string_view> names;
  for (const StrategyKind kind : kinds) names.push_back(traits_of(kind).name);
  return fmt::format("{}", fmt::join(names, between));
}

std::string varied_in_words(Name name) { return in_words(varied_in(name)); }

}  // namespace tandem::options
