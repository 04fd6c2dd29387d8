// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <string>
#include <vector>

#include "common/options/values.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tandem::bench {

struct BenchmarkFlags;

// Declares the flags as options of `app`, whose parsing `flags` outlives.
void declare_benchmark_flags(CLI::App& app, BenchmarkFlags& flags);

// Options of the table (common/options/table.h) as flags of a program's command line.
class OptionLines : boost::noncopyable {
 public:
  // Declares all options, in the groups of the table. `app` outlives this object.
  explicit OptionLines(CLI::App& app);
  // Declares some, as a program has them that times something else; without a choice that needs an
  // option which is not among them.
  OptionLines(CLI::App& app, const std::vector<options::Name>& names);

  // The values that were given, once the command line is parsed. Throws a usage error for a value
  // of another form than its option has.
  [[nodiscard]] options::Values values() const;

 private:
  struct Line {
    options::Name name;
    std::string_view takes{};  // of the option's value, for help and for what is given
    std::string text{};
    CLI::Option* option = nullptr;
  };

  void declare(CLI::App& app, Line& line);

  std::vector<Line> lines_;  // CLI11 writes into it: its size stays
};

}  // namespace tandem::bench
