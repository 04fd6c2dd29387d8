// SPDX-License-Identifier: Apache-2.0
#include "common/comm/simulated/folded_bootstrap.h"

#include <cstdlib>

namespace tandem::simulated {
namespace {

// One of ranks that all say the same.
class LikeMindedRank final : public Bootstrap {
 public:
  enum class Kind { kProcess, kThread };

  LikeMindedRank(int rank, int ranks, Kind kind)
      : rank_(rank), ranks_(all_job_ranks(ranks)), kind_(kind) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    return std::vector<std::string>(ranks_.size(), mine);
  }

  [[nodiscard]] const std::vector<int>& job_ranks() const override { return ranks_; }
  [[nodiscard]] bool shares_address_space() const override { return kind_ == Kind::kThread; }
  // All ranks give the same colour.
  [[nodiscard]] std::unique_ptr<Bootstrap> split(int /*colour*/) override {
    return std::make_unique<LikeMindedRank>(rank_, size(), kind_);
  }
  void abort(int exit_code) override { std::_Exit(exit_code); }

 private:
  const int rank_;
  const std::vector<int> ranks_;
  const Kind kind_;
};

class RanksInTurn final : public RankGroup {
 public:
  explicit RanksInTurn(int size) : size_(size) {}

  [[nodiscard]] std::unique_ptr<Bootstrap> join(int rank) override {
    return std::make_unique<LikeMindedRank>(rank, size_, LikeMindedRank::Kind::kThread);
  }
  void abort() override {}  // nobody waits

 private:
  const int size_;
};

}  // namespace

std::unique_ptr<Bootstrap> make_folded_bootstrap(int ranks) {
  return std::make_unique<LikeMindedRank>(0, ranks, LikeMindedRank::Kind::kProcess);
}

std::unique_ptr<RankGroup> make_ranks_in_turn(int size) {
  return std::make_unique<RanksInTurn>(size);
}

}  // namespace tandem::simulated
