// SPDX-License-Identifier: Apache-2.0
#include "bench/ranks_main.h"

#include <cstdlib>
#include <iostream>

#include "common/base/capture_error.h"

namespace tandem::bench {
namespace {

bool speaks_for_all() {
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  return rank == nullptr || std::atoi(rank) == 0;
}

}  // namespace

bool parse_with_benchmark_flags(CLI::App& app, int argc, const char* const* argv,
                                std::vector<std::string>& benchmark_flags) {
  app.allow_extras();
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return false;
  } catch (const CLI::ParseError& error) {
    fail(ErrorKind::kUsage, "{}; --help lists the flags", error.what());
  }
  for (const std::string& extra : app.remaining()) {
    if (!extra.starts_with("--benchmark_")) {
      fail(ErrorKind::kUsage, "'{}' is no flag of {}: --help lists them", extra, app.get_name());
    }
    benchmark_flags.push_back(extra);
  }
  return true;
}

int run_main(const std::string& program, const std::function<int()>& body) {
  int status = 0;
  const auto error = capture_error([&] { status = body(); });
  if (!error) return status;
  // A logic error is this rank's own, whichever it is.
  if (speaks_for_all() || error->kind() == ErrorKind::kLogic) {
    std::cerr << program << ": " << error->what() << std::endl;
  }
  return error->exit_code();
}

}  // namespace tandem::bench
