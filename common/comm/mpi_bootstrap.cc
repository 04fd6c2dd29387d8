// SPDX-License-Identifier: Apache-2.0
#include "common/comm/mpi_bootstrap.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "common/base/check.h"
#include "common/comm/launcher.h"

namespace tandem {
namespace {

class MpiBootstrap final : public Bootstrap {
 public:
  MpiBootstrap() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] bool shares_address_space() const override { return false; }

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    const auto ranks = static_cast<std::size_t>(size_);
    const int length = static_cast<int>(mine.size());
    std::vector<int> lengths(ranks);
    MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD);
    std::vector<int> offsets(ranks);
    std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
    std::string all(static_cast<std::size_t>(offsets.back() + lengths.back()), '\0');
    MPI_Allgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(),
                   MPI_CHAR, MPI_COMM_WORLD);
    std::vector<std::string> texts;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      texts.push_back(all.substr(static_cast<std::size_t>(offsets[rank]),
                                 static_cast<std::size_t>(lengths[rank])));
    }
    return texts;
  }

  void abort(int exit_code) override { MPI_Abort(MPI_COMM_WORLD, exit_code); }

 private:
  int rank_ = 0;
  int size_ = 1;
};

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

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
  auto bootstrap = std::make_unique<MpiBootstrap>();
  if (bootstrap->size() < announced_ranks()) {
    fail(ErrorKind::kUsage,
         "the launcher started {} ranks, but each believes it is alone: use the mpirun of the MPI "
         "that this program is built with (Open MPI of the system)",
         announced_ranks());
  }
  const std::vector<std::string> hosts = bootstrap->all_gather(host_name());
  if (std::any_of(hosts.begin(), hosts.end(), [&](const auto& h) { return h != hosts[0]; })) {
    fail(ErrorKind::kUsage,
         "ranks run on several nodes ({} and others), and ranks of this version share one node's "
         "memory: start all of them on one node",
         hosts[0]);
  }
  return bootstrap;
}

}  // namespace tandem
