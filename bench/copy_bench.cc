// SPDX-License-Identifier: Apache-2.0
//
// Copies between every two devices of a process, and between each and the host's memory, pinned or
// pageable; one way and both ways at once. Every element of every target is checked. Beside Google
// Benchmark's output, a matrix for people.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/copies/copy_run.h"
#include "bench/copies/options.h"
#include "bench/driver/google_benchmark.h"
#include "bench/driver/ranks_main.h"
#include "bench/driver/sampler.h"
#include "common/comm/thread_bootstrap.h"
#include "common/stats/summary.h"

namespace tandem::bench {
namespace {

// GB/s, GB being 10^9 bytes: the bytes that cross in the median sample, both ways added up.
double bandwidth(const CopyCase& measured, const std::vector<double>& seconds) {
  return static_cast<double>(measured.bytes_moved().value) / stats::median(seconds) * 1e-9;
}

constexpr const char* kCorner = "from \\ to";
constexpr std::size_t kLeastWidth = 7;  // the width of "skipped"

// Figures by row and column, as text for people: rows are sources of copies, columns are targets.
// "-" marks a pair without a copy, "skipped" a copy that was not measured.
class Matrix {
 public:
  // `names` name rows and columns alike, in order.
  Matrix(std::string title, std::vector<std::string> names)
      : title_(std::move(title)), names_(std::move(names)) {}

  // An empty value marks a copy that was skipped.
  void set(const std::string& row, const std::string& column, std::optional<double> value) {
    cells_[{row, column}] = value;
  }

  [[nodiscard]] std::string text() const {
    std::size_t first = std::string(kCorner).size();
    std::size_t width = kLeastWidth;
    for (const std::string& name : names_) {
      first = std::max(first, name.size());
      width = std::max(width, name.size());
    }
    std::string text = fmt::format("{}\n  {:<{}}", title_, kCorner, first);
    for (const std::string& name : names_) text += fmt::format("  {:>{}}", name, width);
    text += '\n';
    for (const std::string& row : names_) {
      text += fmt::format("  {:<{}}", row, first);
      for (const std::string& column : names_) {
        text += fmt::format("  {:>{}}", cell(row, column), width);
      }
      text += '\n';
    }
    return text;
  }

 private:
  [[nodiscard]] std::string cell(const std::string& row, const std::string& column) const {
    const auto found = cells_.find({row, column});
    if (found == cells_.end()) return "-";
    return found->second ? fmt::format("{:.3g}", *found->second) : "skipped";
  }

  const std::string title_;
  const std::vector<std::string> names_;
  std::map<std::pair<std::string, std::string>, std::optional<double>> cells_;
};

class CopySweep {
 public:
  CopySweep(const Job& job, const CopyOptions& options) : job_(job), options_(options) {}

  void add_to(GoogleBenchmark& driver) {
    for (const Bytes size : options_.sizes) {
      for (const Ways ways : options_.ways) add_matrix(driver, size, ways);
    }
  }

  void print_matrices() const {
    for (const auto& matrix : matrices_) std::cerr << '\n' << matrix->text();
  }

 private:
  void add_matrix(GoogleBenchmark& driver, Bytes size, Ways ways) {
    const Backend backend = job_.platform->backend();
    std::vector<std::string> names;
    for (const Endpoint& endpoint : endpoints_of(options_.job.devices)) {
      names.push_back(name_of(endpoint, backend));
    }
    matrices_.push_back(std::make_unique<Matrix>(title_of(size, ways), std::move(names)));
    Matrix& matrix = *matrices_.back();
    bool is_empty = true;
    for (const CopyCase& measured : copy_cases(options_.job.devices, ways, size)) {
      const std::string name = name_of(measured, backend);
      is_empty = is_empty && driver.leaves_out(name);
      driver.add(
          name, options_.samples, benchmark::kMicrosecond,
          [this, measured, &matrix](benchmark::State& state) { measure(state, measured, matrix); });
    }
    if (is_empty) matrices_.pop_back();  // no cell of the matrix is measured
  }

  [[nodiscard]] std::string title_of(Bytes size, Ways ways) const {
    const std::string both = ways == Ways::kBoth ? ", both ways at once, the two added up" : "";
    return fmt::format("GB/s of copies of {}{}{}", to_string(size), both,
                       job_.platform->oversubscribed() ? ", devices share cores or GPUs" : "");
  }

  void measure(benchmark::State& state, const CopyCase& measured, Matrix& matrix) {
    const CopyResult result = measure_copy(*job_.platform, measured, options_.samples);
    if (!result.wrong.empty()) fail(ErrorKind::kFailure, "{}", result.wrong);
    if (!result.skipped.empty()) {
      state.SkipWithError(("skipped: " + result.skipped).c_str());
      return set(matrix, measured, std::nullopt);
    }
    replay_samples(state, result.seconds);
    const double found = bandwidth(measured, result.seconds);
    state.counters["GBps"] = found;
    if (!result.host_seconds.empty()) {
      state.counters["copies"] = result.copies;
      state.counters["host_p50_us"] = stats::median(result.host_seconds) * 1e6;
      state.counters["host_GBps"] = bandwidth(measured, result.host_seconds);
    }
    state.counters["errors"] = static_cast<double>(result.wrong_elements);
    set(matrix, measured, found);
  }

  void set(Matrix& matrix, const CopyCase& measured, std::optional<double> value) const {
    const Backend backend = job_.platform->backend();
    const std::string from = name_of(measured.from, backend);
    const std::string to = name_of(measured.to, backend);
    matrix.set(from, to, value);
    if (measured.ways == Ways::kBoth) matrix.set(to, from, value);
  }

  const Job& job_;
  const CopyOptions& options_;
  std::vector<std::unique_ptr<Matrix>> matrices_;
};

int run(const CopyOptions& options, Bootstrap& bootstrap) {
  GoogleBenchmark driver("copy_bench", options.benchmark, bootstrap.rank());
  const Job job = open_job(bootstrap, options.job);
  std::cerr << notices_of(job) << std::flush;
  add_context(job);
  CopySweep sweep(job, options);
  sweep.add_to(driver);
  driver.run();
  sweep.print_matrices();
  return 0;
}

}  // namespace
}  // namespace tandem::bench

int main(int argc, char** argv) {
  using namespace tandem::bench;
  restart_in_clean_environment(argv);
  return run_main("copy_bench", [&] {
    const auto options = parse_copy_options(argc, argv);
    if (!options) return 0;
    check_launch(Launch::kThreads);
    tandem::ThreadGroup alone(1);
    return run(*options, *alone.join(0));
  });
}
