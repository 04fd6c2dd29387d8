// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tandem {

// Ranks that exchange texts, outside the timed path. Calls are collective: every rank makes the
// same calls in the same order, from one thread per rank.
class RankExchange {
 public:
  RankExchange() = default;
  RankExchange(const RankExchange&) = delete;
  RankExchange& operator=(const RankExchange&) = delete;
  virtual ~RankExchange() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  // Every rank's text, by rank.
  [[nodiscard]] virtual std::vector<std::string> all_gather(const std::string& mine) = 0;
};

// Runs `attempt` on every rank. Where `attempt` throws on any rank, every rank throws the first
// failure by rank, with its kind and with the reach all ranks; a lost peer is thrown only where
// nothing else failed. So no rank is left waiting for a rank that gave up. Collective.
void attempt_together(RankExchange& ranks, const std::function<void()>& attempt);

}  // namespace tandem
