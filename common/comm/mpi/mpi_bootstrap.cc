// SPDX-License-Identifier: Apache-2.0
#include "common/comm/mpi/mpi_bootstrap.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/comm/bootstrap.h"
#include "common/comm/collective_errors.h"
#include "common/comm/rank_exit.h"
#include "common/runtime/host/parking.h"

namespace tandem {
namespace {

// The time that a rank which gave up waits for MPI to end the job; then the rank leaves alone.
constexpr Nanoseconds kAbortPatience = std::chrono::seconds(5);

// Patience with MPI's start: on a busy machine processes take seconds to begin.
constexpr Nanoseconds kShortestStart = std::chrono::seconds(30);

// Waits for an exchange, asleep most of the time. False at the deadline.
bool complete_by(MPI_Request& request, TimePoint deadline) {
  Nanoseconds slice = std::chrono::microseconds(20);
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return true;
    const TimePoint now = Clock::now();
    if (now >= deadline) return false;
    host::sleep_until(std::min(deadline, now + slice));
    slice = std::min<Nanoseconds>(2 * slice, std::chrono::milliseconds(1));
  }
}

// The texts of one exchange, which stay in one place until MPI has finished with them.
struct PendingTexts {
  PendingTexts(std::string text, std::size_t ranks)
      : mine(std::move(text)), length(static_cast<int>(mine.size())), lengths(ranks) {}

  // Called once the lengths are known.
  void make_room() {
    offsets.resize(lengths.size());
    std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
    all.resize(static_cast<std::size_t>(offsets.back() + lengths.back()));
  }

  [[nodiscard]] std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
      texts.push_back(all.substr(static_cast<std::size_t>(offsets[rank]),
                                 static_cast<std::size_t>(lengths[rank])));
    }
    return texts;
  }

  const std::string mine;
  const int length;
  std::vector<int> lengths;
  std::vector<int> offsets;
  std::string all;
};

// Guards a call that only MPI can end.
ExitGuard guard_against(int rank, Nanoseconds deadline, const RankExit& rank_exit,
                        const char* what) {
  return {timeout_error(rank, deadline, what), deadline, rank_exit};
}

class MpiBootstrap final : public Bootstrap {
 public:
  MpiBootstrap(MPI_Comm ranks, std::vector<int> job_ranks, MpiSession::Patience patience)
      : ranks_(ranks), job_ranks_(std::move(job_ranks)), patience_(std::move(patience)) {
    MPI_Comm_rank(ranks_, &rank_);
    MPI_Comm_size(ranks_, &size_);
  }
  ~MpiBootstrap() override {
    if (ranks_ == MPI_COMM_WORLD) return;
    const ExitGuard guard = guard_against("MPI to release the ranks of a part of the job");
    MPI_Comm_free(&ranks_);
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] const std::vector<int>& job_ranks() const override { return job_ranks_; }
  [[nodiscard]] bool shares_address_space() const override { return false; }

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    auto exchange = std::make_unique<PendingTexts>(mine, static_cast<std::size_t>(size_));
    const TimePoint deadline = Clock::now() + patience_.deadline;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(&exchange->length, 1, MPI_INT, exchange->lengths.data(), 1, MPI_INT, ranks_,
                   &request);
    if (!complete_by(request, deadline)) give_up(std::move(exchange));
    exchange->make_room();
    MPI_Iallgatherv(exchange->mine.data(), exchange->length, MPI_CHAR, exchange->all.data(),
                    exchange->lengths.data(), exchange->offsets.data(), MPI_CHAR, ranks_, &request);
    if (!complete_by(request, deadline)) give_up(std::move(exchange));
    return exchange->texts();
  }

  [[nodiscard]] std::unique_ptr<Bootstrap> split(int colour) override {
    std::vector<int> ranks = job_ranks_of_part(*this, colour);
    MPI_Comm part = MPI_COMM_NULL;
    {
      const ExitGuard guard = guard_against("MPI to split the ranks of the job");
      MPI_Comm_split(ranks_, colour, rank_, &part);
    }
    return std::make_unique<MpiBootstrap>(part, std::move(ranks), patience_);
  }

  void abort(int exit_code) override {
    // A stopped peer can hold up MPI's own end of the job.
    const ExitGuard guard(
        Error(ErrorKind::kFailure,
              fmt::format("rank {}: MPI did not end the job; leaving alone", own_job_rank(*this))),
        kAbortPatience, {}, exit_code);
    MPI_Abort(MPI_COMM_WORLD, exit_code);
  }

 private:
  [[nodiscard]] ExitGuard guard_against(const char* what) const {
    return tandem::guard_against(own_job_rank(*this), patience_.deadline, patience_.rank_exit,
                                 what);
  }

  // The exchange is never freed: MPI may still write to it when a late peer comes.
  [[noreturn]] void give_up(std::unique_ptr<PendingTexts> exchange) {
    static_cast<void>(exchange.release());
    fail(PeerFailure{.kind = PeerFailure::Kind::kWaited, .waited = patience_.deadline},
         "rank {} waited {} for another rank, which is lost or late: look at its output",
         own_job_rank(*this), to_string(Seconds(patience_.deadline)));
  }

  MPI_Comm ranks_;
  const std::vector<int> job_ranks_;
  const MpiSession::Patience patience_;
  int rank_ = 0;
  int size_ = 1;
};

std::vector<int> ranks_of_world() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return all_job_ranks(size);
}

}  // namespace

std::string mpi_library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return "";
  const std::string whole(text.data());
  return whole.substr(0, whole.find_first_of(",\n"));
}

MpiSession::MpiSession(int& argc, char**& argv, Patience patience)
    : patience_(std::move(patience)) {
  check_ranks_can_meet();
  const ExitGuard guard =
      guard_against(announced_rank(), std::max(patience_.deadline, kShortestStart),
                    patience_.rank_exit, "MPI to start");
  int provided = MPI_THREAD_SINGLE;
  // MPI_THREAD_MULTIPLE, since a communicator's collectives run on stream workers and its control
  // calls on the main thread.
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    fail(ErrorKind::kFailure,
         "this MPI was built without support for calls from several threads (MPI_THREAD_MULTIPLE): "
         "install one with it");
  }
}

MpiSession::~MpiSession() {
  const ExitGuard guard =
      guard_against(announced_rank(), patience_.deadline, patience_.rank_exit, "MPI to end");
  MPI_Finalize();
}

std::unique_ptr<Bootstrap> MpiSession::bootstrap() {
  auto bootstrap = std::make_unique<MpiBootstrap>(MPI_COMM_WORLD, ranks_of_world(), patience_);
  if (bootstrap->size() < announced_ranks()) {
    fail(ErrorKind::kUsage,
         "the launcher started {} ranks, but each believes it is alone: use the mpirun of the MPI "
         "that this program is built with (Open MPI of the system)",
         announced_ranks());
  }
  return bootstrap;
}

}  // namespace tandem
