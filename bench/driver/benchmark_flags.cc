// SPDX-License-Identifier: Apache-2.0
#include "bench/driver/benchmark_flags.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <regex>
#include <string_view>

#include "bench/driver/flag_values.h"
#include "common/base/error.h"
#include "common/base/units.h"

namespace tandem::bench {
namespace {

using Format = BenchmarkFlags::Format;

constexpr std::array kFormats{Choice<Format>{"console", Format::kConsole},
                              Choice<Format>{"json", Format::kJson}};
constexpr std::array kUnits{Choice<benchmark::TimeUnit>{"ns", benchmark::kNanosecond},
                            Choice<benchmark::TimeUnit>{"us", benchmark::kMicrosecond},
                            Choice<benchmark::TimeUnit>{"ms", benchmark::kMillisecond},
                            Choice<benchmark::TimeUnit>{"s", benchmark::kSecond}};

struct Flag {
  std::string text;   // the whole flag, "--benchmark_filter=all"
  std::string name;   // "--benchmark_filter"
  std::string value;  // empty where the flag has no value
};

Flag split(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return {text, text, ""};
  return {text, text.substr(0, equals), text.substr(equals + 1)};
}

// A flag without a value is on, as the library reads flags.
bool is_on(const Flag& flag) {
  constexpr std::array<std::string_view, 6> kOff{"0", "n", "no", "f", "false", "off"};
  return std::ranges::find(kOff, flag.value) == kOff.end();
}

// Flags that are on or off may stand alone; the library does not know other flags without a value.
void check_has_value(const Flag& flag) {
  constexpr std::array<std::string_view, 5> kAlone{
      "--benchmark_list_tests", "--benchmark_enable_random_interleaving",
      "--benchmark_report_aggregates_only", "--benchmark_display_aggregates_only",
      "--benchmark_counters_tabular"};
  if (flag.text != flag.name || std::ranges::find(kAlone, flag.name) != kAlone.end()) return;
  fail(ErrorKind::kUsage, "'{0}' needs a value: write {0}=VALUE", flag.text);
}

int repetitions_of(const Flag& flag) {
  const int count = parse_number<int>(flag.value).value_or(0);
  if (count >= 1) return count;
  fail(ErrorKind::kUsage, "'{}': use 1 or more repetitions", flag.text);
}

// mpirun gives its ranks a terminal whatever mpirun's own output is: only of one rank is a terminal
// known to show the output.
bool colors_by_itself(int ranks) { return ranks == 1 && ::isatty(STDOUT_FILENO) != 0; }

void refuse_interleaving(const Flag& flag, int ranks) {
  if (ranks == 1 || !is_on(flag)) return;
  fail(ErrorKind::kUsage,
       "'{}' is not for {} ranks: each would draw an order of its own, run another benchmark than "
       "the rest and wait for them without end; leave it out",
       flag.text, ranks);
}

[[noreturn]] void refuse(const std::string& program, const Flag& flag) {
  if (flag.name == "--benchmark_min_time" || flag.name == "--benchmark_min_warmup_time") {
    fail(ErrorKind::kUsage,
         "'{}' is not for {}, whose number of samples has its own options: use --samples or "
         "--pairs, "
         "as --help lists them",
         flag.text, program);
  }
  if (flag.name == "--benchmark_perf_counters") {
    fail(ErrorKind::kUsage,
         "'{}' is not for {}: it would count what the thread does that waits for the devices, and "
         "not what they do; leave it out",
         flag.text, program);
  }
  fail(ErrorKind::kUsage,
       "'{}' is no flag of Google Benchmark that {} knows: use --benchmark_filter, _list_tests, "
       "_repetitions, _report_aggregates_only, _display_aggregates_only, _format, _out, "
       "_out_format, _time_unit, _color, _counters_tabular or _context",
       flag.text, program);
}

// Reads where output goes and how output looks; false for another flag.
bool read_output(const Flag& flag, BenchmarkFlags& read) {
  if (flag.name == "--benchmark_format") {
    read.display = choose(flag.name.c_str(), flag.value, kFormats);
  } else if (flag.name == "--benchmark_out") {
    read.out = flag.value;
    read.for_report.push_back(flag.text);
  } else if (flag.name == "--benchmark_out_format") {
    read.out_format = choose(flag.name.c_str(), flag.value, kFormats);
  } else if (flag.name == "--benchmark_color") {
    if (flag.value != "auto") read.in_color = is_on(flag);
  } else if (flag.name == "--benchmark_counters_tabular") {
    read.tabular = is_on(flag);
  } else if (flag.name == "--benchmark_time_unit") {
    read.unit = choose(flag.name.c_str(), flag.value, kUnits);
  } else if (flag.name == "--benchmark_context" ||
             flag.name == "--benchmark_report_aggregates_only" ||
             flag.name == "--benchmark_display_aggregates_only") {
    read.for_report.push_back(flag.text);
  } else {
    return false;
  }
  return true;
}

// Reads which benchmarks are run; false for another flag.
bool read_selection(const Flag& flag, int ranks, BenchmarkFlags& read) {
  if (flag.name == "--benchmark_filter") {
    read.filter = NameFilter(flag.value);
  } else if (flag.name == "--benchmark_list_tests") {
    read.lists = is_on(flag);
  } else if (flag.name == "--benchmark_repetitions") {
    read.repetitions = repetitions_of(flag);
    read.for_all.push_back(flag.text);
  } else if (flag.name == "--benchmark_enable_random_interleaving") {
    refuse_interleaving(flag, ranks);
    read.for_all.push_back(flag.text);
  } else {
    return false;
  }
  return true;
}

}  // namespace

NameFilter::NameFilter(const std::string& text) : text_(text == "all" ? "" : text) {
  is_negative_ = text_.starts_with('-');
  try {
    const std::regex pattern(text_.substr(is_negative_ ? 1 : 0), std::regex::extended);
    finds_ = [pattern](const std::string& name) { return std::regex_search(name, pattern); };
  } catch (const std::regex_error& error) {
    fail(ErrorKind::kUsage, "--benchmark_filter: '{}' is no extended regular expression: {}", text,
         error.what());
  }
}

bool NameFilter::selects(const std::string& name) const {
  return text_.empty() || finds_(name) != is_negative_;
}

BenchmarkFlags read_benchmark_flags(const std::string& program,
                                    const std::vector<std::string>& flags, int ranks) {
  BenchmarkFlags read;
  read.in_color = colors_by_itself(ranks);
  for (const std::string& text : flags) {
    const Flag flag = split(text);
    check_has_value(flag);
    if (!read_output(flag, read) && !read_selection(flag, ranks, read)) refuse(program, flag);
  }
  return read;
}

void fail_none_selected(const NameFilter& filter) {
  fail(ErrorKind::kUsage,
       "--benchmark_filter={}: no benchmark has such a name; --benchmark_list_tests names them",
       filter.text());
}

void refuse_repetitions(const BenchmarkFlags& flags, const std::string& why) {
  if (flags.repetitions == 1) return;
  fail(ErrorKind::kUsage, "--benchmark_repetitions={}: {}", flags.repetitions, why);
}

std::optional<std::string> take_duration(std::vector<std::string>& flags, const std::string& name,
                                         const std::string& instead) {
  std::optional<std::string> found;
  for (const std::string& text : flags) {
    const Flag flag = split(text);
    if (flag.name != name) continue;
    if (flag.value.ends_with('x')) {
      fail(ErrorKind::kUsage, "'{}' is a number of iterations: use {}", text, instead);
    }
    found = flag.value.ends_with('s') ? flag.value : flag.value + "s";
  }
  std::erase_if(flags, [&](const std::string& text) { return split(text).name == name; });
  return found;
}

}  // namespace tandem::bench
