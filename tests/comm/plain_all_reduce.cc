// SPDX-License-Identifier: Apache-2.0
//
// A plain loop over MPI_Allreduce, as the benchmarks of message-passing libraries have it: what
// collective_bench's figures of the transport mpi are compared with (compare_plain_all_reduce.py).
// Nothing of the project measures here but the clock, the percentile and the reading of flags.
//
//   mpirun -np 2 --bind-to none plain_all_reduce [--sizes=1KiB,1MiB,64MiB] [--chunk=1MiB|none]
//                                                [--calls=1] [--samples=200]
//                                                [--threads=single|multiple]
//
// Sums fp32 in place. Prints for each size: bytes, and the median of the samples' time per call in
// microseconds, from the last rank's start to the last rank's end.
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iostream>
#include <vector>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/stats/summary.h"

namespace tandem::test {
namespace {

struct Options {
  std::vector<Bytes> sizes;
  Bytes chunk;    // of one call of MPI
  int calls = 1;  // of all-reduce, per sample
  int samples = 200;
  bool calls_from_threads = false;
};

Options parse(int argc, char** argv) {
  CLI::App app("A plain loop over MPI_Allreduce.", "plain_all_reduce");
  Options options;
  std::vector<std::string> sizes{"1KiB", "1MiB", "64MiB"};
  std::string chunk = "1MiB";
  std::string threads = "single";
  app.add_option("--sizes", sizes)->delimiter(',');
  app.add_option("--chunk", chunk);
  app.add_option("--calls", options.calls)->check(CLI::PositiveNumber);
  app.add_option("--samples", options.samples)->check(CLI::PositiveNumber);
  app.add_option("--threads", threads)->check(CLI::IsMember({"single", "multiple"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    fail(ErrorKind::kUsage, "{}", error.what());
  }
  for (const std::string& size : sizes) options.sizes.push_back(parse_bytes(size, "--sizes"));
  options.chunk = chunk == "none" ? gib(4) : parse_bytes(chunk, "--chunk");
  if (options.chunk < Bytes{4}) fail(ErrorKind::kUsage, "--chunk: use 4B or more");
  options.calls_from_threads = threads == "multiple";
  return options;
}

void all_reduce(std::vector<float>& values, std::size_t chunk) {
  for (std::size_t done = 0; done < values.size(); done += chunk) {
    const auto count = static_cast<int>(std::min(chunk, values.size() - done));
    MPI_Allreduce(MPI_IN_PLACE, values.data() + done, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }
}

double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

// Seconds per call.
double sample(std::vector<float>& values, const Options& options) {
  const auto chunk = static_cast<std::size_t>(options.chunk.value) / sizeof(float);
  MPI_Barrier(MPI_COMM_WORLD);
  std::array<double, 2> times{now(), 0};
  for (int call = 0; call < options.calls; ++call) all_reduce(values, chunk);
  times[1] = now();
  MPI_Allreduce(MPI_IN_PLACE, times.data(), 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return (times[1] - times[0]) / options.calls;
}

void measure(Bytes size, const Options& options, int rank) {
  std::vector<float> values(static_cast<std::size_t>(size.value) / sizeof(float), 0);
  for (int warmup = 0; warmup < 5; ++warmup) static_cast<void>(sample(values, options));
  std::vector<double> seconds;
  for (int i = 0; i < options.samples; ++i) seconds.push_back(sample(values, options));
  if (rank == 0) std::cout << fmt::format("{} {:.3f}\n", size.value, stats::median(seconds) * 1e6);
}

}  // namespace
}  // namespace tandem::test

int main(int argc, char** argv) {
  using namespace tandem::test;
  Options options;
  if (const auto error = tandem::capture_error([&] { options = parse(argc, argv); })) {
    std::cerr << fmt::format("plain_all_reduce: {}\n", error->what());
    return error->exit_code();
  }
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv,
                  options.calls_from_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (const tandem::Bytes size : options.sizes) measure(size, options, rank);
  MPI_Finalize();
  return 0;
}
