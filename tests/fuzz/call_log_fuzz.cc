// SPDX-License-Identifier: Apache-2.0
// The reader of logs of pretended GPUs: the times of what it took are numbers.
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>

#include "common/base/error.h"
#include "tests/fuzz/one_line.h"
#include "tests/support/round_machine.h"
#include "tools/tandem/replay/call_log.h"
#include "tools/tandem/replay/device_work.h"

namespace tandem::fuzz {
namespace {

void time_one(const replay::LoggedCall& call, const GpuDescription& gpu) {
  const auto time = [&](const auto& asked) {
    using Kind = std::decay_t<decltype(asked)>;
    if constexpr (std::is_same_v<Kind, replay::LibraryCall>) {
      static_cast<void>(replay::time_of(asked, call.function, gpu));
    } else if constexpr (std::is_same_v<Kind, replay::KernelLaunch> ||
                         std::is_same_v<Kind, replay::MatrixProduct>) {
      static_cast<void>(replay::time_of(asked, gpu));
    } else if constexpr (std::is_same_v<Kind, replay::RankCollective>) {
      if (asked.rank < 0 || asked.rank >= asked.ranks) {
        fail(ErrorKind::kLogic, "rank {} of {} was read", asked.rank, asked.ranks);
      }
    }
  };
  reads_or_refuses_in_one_line([&] { std::visit(time, call.asked); });
}

}  // namespace
}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tandem;
  static const GpuDescription gpu = test::round_machine().gpu;
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::reads_or_refuses_in_one_line([&] {
    const replay::LoggedProcess process = replay::parse_call_log(text, "calls.1");
    for (const replay::LoggedCall& call : process.calls) fuzz::time_one(call, gpu);
  });
  return 0;
}
