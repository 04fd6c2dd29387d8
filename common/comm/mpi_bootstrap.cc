// SPDX-License-Identifier: Apache-2.0
#include "common/comm/mpi_bootstrap.h"

#include <mpi.h>

#include <numeric>

#include "common/base/check.h"
#include "common/comm/launcher.h"

namespace tandem {
namespace {

class MpiBootstrap final : public Bootstrap {
 public:
  explicit MpiBootstrap(MPI_Comm ranks) : ranks_(ranks) {
    MPI_Comm_rank(ranks_, &rank_);
    MPI_Comm_size(ranks_, &size_);
  }
  ~MpiBootstrap() override {
    if (ranks_ != MPI_COMM_WORLD) MPI_Comm_free(&ranks_);
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] bool shares_address_space() const override { return false; }

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    const auto ranks = static_cast<std::size_t>(size_);
    const int length = static_cast<int>(mine.size());
    std::vector<int> lengths(ranks);
    MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, ranks_);
    std::vector<int> offsets(ranks);
    std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
    std::string all(static_cast<std::size_t>(offsets.back() + lengths.back()), '\0');
    MPI_Allgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(),
                   MPI_CHAR, ranks_);
    std::vector<std::string> texts;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      texts.push_back(all.substr(static_cast<std::size_t>(offsets[rank]),
                                 static_cast<std::size_t>(lengths[rank])));
    }
    return texts;
  }

  [[nodiscard]] std::unique_ptr<Bootstrap> split(int colour) override {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(ranks_, colour, rank_, &part);
    return std::make_unique<MpiBootstrap>(part);
  }

  void abort(int exit_code) override { MPI_Abort(MPI_COMM_WORLD, exit_code); }

 private:
  MPI_Comm ranks_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace

MpiSession::MpiSession(int& argc, char**& argv) {
  int provided = MPI_THREAD_SINGLE;
  // Multiple: a communicator's collectives run on stream workers, its control calls on main's
  // thread.
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    fail(ErrorKind::kFailure,
         "this MPI was built without support for calls from several threads (MPI_THREAD_MULTIPLE): "
         "install one with it");
  }
}

MpiSession::~MpiSession() { MPI_Finalize(); }

std::unique_ptr<Bootstrap> MpiSession::bootstrap() {
  auto bootstrap = std::make_unique<MpiBootstrap>(MPI_COMM_WORLD);
  if (bootstrap->size() < announced_ranks()) {
    fail(ErrorKind::kUsage,
         "the launcher started {} ranks, but each believes it is alone: use the mpirun of the MPI "
         "that this program is built with (Open MPI of the system)",
         announced_ranks());
  }
  return bootstrap;
}

}  // namespace tandem
