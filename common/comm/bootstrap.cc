// SPDX-License-Identifier: Apache-2.0
#include "common/comm/bootstrap.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"

namespace tandem {

namespace {

// "" for success, else a digit for the kind, one for what came between ranks, and the message.
std::string outcome_of(const std::function<void()>& attempt) {
  const std::optional<Error> error = capture_error(attempt);
  if (!error) return "";
  return fmt::format("{}{}{}", static_cast<int>(error->kind()),
                     static_cast<int>(error->peer_failure().kind), error->what());
}

Error error_in(const std::string& outcome) {
  const auto kind = static_cast<ErrorKind>(outcome[0] - '0');
  const std::string message = outcome.substr(2);
  if (kind != ErrorKind::kCommunication) return {kind, message, Error::Reach::kAllRanks};
  const auto between = static_cast<PeerFailure::Kind>(outcome[1] - '0');
  return Error(PeerFailure{.kind = between}, message).of_all_ranks();
}

}  // namespace

void attempt_together(RankExchange& ranks, const std::function<void()>& attempt) {
  std::vector<std::optional<Error>> errors;
  for (const std::string& outcome : ranks.all_gather(outcome_of(attempt))) {
    if (!outcome.empty()) errors.emplace_back(error_in(outcome));
  }
  throw_cause(errors);
}

void barrier(Bootstrap& bootstrap) { static_cast<void>(bootstrap.all_gather("")); }

int own_job_rank(const Bootstrap& bootstrap) {
  return bootstrap.job_ranks()[static_cast<std::size_t>(bootstrap.rank())];
}

std::vector<int> all_job_ranks(int size) {
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

std::vector<int> job_ranks_of_part(Bootstrap& bootstrap, int colour) {
  const std::string mine = std::to_string(colour);
  const std::vector<std::string> colours = bootstrap.all_gather(mine);
  std::vector<int> ranks;
  for (std::size_t peer = 0; peer < colours.size(); ++peer) {
    if (colours[peer] == mine) ranks.push_back(bootstrap.job_ranks()[peer]);
  }
  return ranks;
}

std::string broadcast(Bootstrap& bootstrap, const std::string& value, int root) {
  TANDEM_CHECK(root >= 0 && root < bootstrap.size(), "root {} of {} ranks", root, bootstrap.size());
  const bool mine = bootstrap.rank() == root;
  return bootstrap.all_gather(mine ? value : "")[static_cast<std::size_t>(root)];
}

namespace {

// The largest number that any of the variables holds; nothing where none is set.
std::optional<int> largest_of(std::initializer_list<const char*> variables) {
  std::optional<int> largest;
  for (const char* const variable : variables) {
    const char* const text = std::getenv(variable);
    if (text != nullptr) largest = std::max(largest.value_or(0), std::atoi(text));
  }
  return largest;
}

// A variable of srun's step, or `otherwise`. Ranks of an mpirun within an allocation see the step
// of mpirun's daemons, so the callers read mpirun's own variables first.
int of_step(const char* variable, int otherwise) {
  return largest_of({variable}).value_or(otherwise);
}

}  // namespace

int announced_ranks() {
  const auto ranks = largest_of({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"});
  return std::max(1, ranks ? *ranks : of_step("SLURM_STEP_NUM_TASKS", 1));
}

int announced_rank() {
  const auto rank = largest_of({"OMPI_COMM_WORLD_RANK", "PMI_RANK"});
  return rank ? *rank : of_step("SLURM_PROCID", 0);
}

void check_ranks_can_meet() {
  const bool has_way =
      largest_of({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK"}).has_value();
  const int tasks = of_step("SLURM_STEP_NUM_TASKS", 1);
  if (has_way || tasks < 2) return;
  fail(ErrorKind::kUsage,
       "srun started {} ranks without a way to find each other: use srun --mpi=pmix (srun "
       "--mpi=list says what there is)",
       tasks);
}

}  // namespace tandem
