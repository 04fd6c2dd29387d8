// SPDX-License-Identifier: Apache-2.0
#include "common/comm/simulated/folded_bootstrap.h"

#include <cstdlib>

namespace tandem::simulated {
namespace {

class FoldedBootstrap final : public Bootstrap {
 public:
  explicit FoldedBootstrap(int ranks) : ranks_(all_job_ranks(ranks)) {}

  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    return std::vector<std::string>(ranks_.size(), mine);
  }

  [[nodiscard]] const std::vector<int>& job_ranks() const override { return ranks_; }
  [[nodiscard]] bool shares_address_space() const override { return false; }
  // All ranks give the same colour.
  [[nodiscard]] std::unique_ptr<Bootstrap> split(int /*colour*/) override {
    return std::make_unique<FoldedBootstrap>(size());
  }
  void abort(int exit_code) override { std::_Exit(exit_code); }

 private:
  const std::vector<int> ranks_;
};

}  // namespace

std::unique_ptr<Bootstrap> make_folded_bootstrap(int ranks) {
  return std::make_unique<FoldedBootstrap>(ranks);
}

}  // namespace tandem::simulated
