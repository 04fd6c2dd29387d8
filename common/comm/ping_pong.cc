// SPDX-License-Identifier: Apache-2.0
#include "common/comm/ping_pong.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "common/base/units.h"
#include "common/runtime/host/cores.h"

namespace tandem {
namespace {

constexpr int kRounds = 9;
constexpr std::uint32_t kExchanges = 1000;  // there and back

// Spins on purpose: the measurement is of the cores' distance, not of the scheduler.
void await(const std::atomic<std::uint32_t>& word, std::uint32_t value) {
  while (word.load(std::memory_order_acquire) != value) {
  }
}

}  // namespace

double ping_pong_ns(int one_core, int other_core) {
  if (one_core == other_core) return 0;
  alignas(64) std::atomic<std::uint32_t> ball{0};
  std::thread peer([&ball, other_core] {
    host::bind_this_thread(other_core);
    for (std::uint32_t i = 0; i < kRounds * kExchanges; ++i) {
      await(ball, 2 * i + 1);
      ball.store(2 * i + 2, std::memory_order_release);
    }
  });
  const host::ScopedBinding here(one_core);
  std::array<double, kRounds> one_way{};
  std::uint32_t exchange = 0;
  for (double& result : one_way) {
    const TimePoint start = Clock::now();
    for (std::uint32_t i = 0; i < kExchanges; ++i, ++exchange) {
      ball.store(2 * exchange + 1, std::memory_order_release);
      await(ball, 2 * exchange + 2);
    }
    result = static_cast<double>(Nanoseconds(Clock::now() - start).count()) / (2.0 * kExchanges);
  }
  peer.join();
  std::nth_element(one_way.begin(), one_way.begin() + kRounds / 2, one_way.end());
  return one_way[kRounds / 2];
}

}  // namespace tandem
