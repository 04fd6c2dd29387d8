// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/stand_in_tracing.h"

#include <dlfcn.h>

#include <cstdlib>

#include "tests/runtime/stand_in_machine.h"
#include "tests/trace/stand_in_cupti.h"

namespace tandem::test::stand_in {
namespace {

// Null until the program has loaded it, which this never does.
void* stand_in_for_cupti() {
  static const char* const file = std::getenv("STAND_IN_CUPTI");
  return file == nullptr || *file == 0 ? nullptr
                                       : dlopen(file, RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
}

bool is_of_gpu(const std::string& function) {
  return !function.starts_with("cuda") || function.starts_with("cudaMem");
}

}  // namespace

std::function<void()> told_to_cupti(const std::string& function, cudaStream_t stream,
                                    std::function<void()> body) {
  void* const library = stand_in_for_cupti();
  if (library == nullptr) return body;
  const auto call = reinterpret_cast<StandInCuptiCall*>(dlsym(library, "stand_in_cupti_call"));
  const auto ran = reinterpret_cast<StandInCuptiRan*>(dlsym(library, "stand_in_cupti_ran"));
  const auto now = reinterpret_cast<StandInCuptiNow*>(dlsym(library, "stand_in_cupti_now"));
  const StandInWork work{
      .function = nullptr, .gpu = stream->gpu, .stream = stream, .correlation = call()};
  if (!is_of_gpu(function)) return body;
  return [=, body = std::move(body)]() {
    StandInWork done = work;
    done.function = function.c_str();
    done.begin = now();
    body();
    done.end = now();
    ran(&done);
  };
}

}  // namespace tandem::test::stand_in
