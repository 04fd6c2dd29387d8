// SPDX-License-Identifier: Apache-2.0
#include "common/comm/mpi/mpi_communicator.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <iostream>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "common/base/dtype.h"
#include "common/base/error.h"
#include "common/base/units.h"
#include "common/comm/blocking_communicator.h"
#include "common/comm/bootstrap.h"
#include "common/comm/collective_errors.h"
#include "common/comm/rank_exit.h"
#include "common/comm/reduction.h"
#include "common/comm/watchdog.h"

namespace tandem {

// An MPI communicator of its owner alone, which returns errors instead of ending the job.
class MpiComm {
 public:
  // Makes an MPI communicator of the bootstrap's ranks, in the bootstrap's order. The constructor
  // and the destructor are collective among these ranks. Where MPI waits for a rank past
  // `deadline`, the process ends with a line that names the wait.
  MpiComm(Bootstrap& bootstrap, Nanoseconds deadline, const RankExit& rank_exit = {});
  ~MpiComm();
  MpiComm(const MpiComm&) = delete;
  MpiComm& operator=(const MpiComm&) = delete;

  [[nodiscard]] MPI_Comm get() const { return comm_; }

 private:
  [[nodiscard]] ExitGuard guard_against(const char* what) const;

  const int job_rank_;
  const Nanoseconds deadline_;
  const RankExit rank_exit_;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// A type of elements and the sum for that type. fp32 uses MPI's own. A 16-bit type has a type of
// two bytes, and a sum computed in float and rounded to nearest at each addition of two operands.
struct MpiElement {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op sum = MPI_OP_NULL;
};

class MpiElements {
 public:
  MpiElements();
  ~MpiElements();
  MpiElements(const MpiElements&) = delete;
  MpiElements& operator=(const MpiElements&) = delete;

  [[nodiscard]] MpiElement of(DType type) const;

 private:
  MpiElement bfloat16_;
  MpiElement float16_;
};

namespace {

int code_class(int code) {
  int kind = MPI_ERR_OTHER;
  MPI_Error_class(code, &kind);
  return kind;
}

// A communication error that names the function, where `code` is not success.
void check_mpi(int code, const char* function) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  const bool is_cut = code_class(code) == MPI_ERR_TRUNCATE;
  fail(PeerFailure{.kind = is_cut ? PeerFailure::Kind::kDiverged : PeerFailure::Kind::kUnknown},
       "{} failed ({}): every rank must enqueue the same collectives of the same size in the same "
       "order; else look at the other ranks' output",
       function, std::string_view(text.data(), static_cast<std::size_t>(length)));
}

// Any tag will do, since no other group is made at the same time.
constexpr int kGroupTag = 1;

std::vector<int> world_ranks_of(Bootstrap& bootstrap) {
  int mine = 0;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &mine), "MPI_Comm_rank");
  std::vector<int> ranks;
  for (const std::string& theirs : bootstrap.all_gather(std::to_string(mine))) {
    ranks.push_back(std::stoi(theirs));
  }
  return ranks;
}

template <DType kType>
void add(void* operand, void* sum, int* count, MPI_Datatype*) {
  auto* const into = static_cast<std::byte*>(sum);
  reduce_elements({static_cast<const std::byte*>(operand), into}, {into}, {0, *count},
                  {.type = kType});
}

template <DType kType>
MpiElement make_element() {
  MpiElement element;
  check_mpi(MPI_Type_contiguous(static_cast<int>(size_of(kType)), MPI_BYTE, &element.type),
            "MPI_Type_contiguous");
  check_mpi(MPI_Type_commit(&element.type), "MPI_Type_commit");
  constexpr int kCommutes = 1;
  check_mpi(MPI_Op_create(add<kType>, kCommutes, &element.sum), "MPI_Op_create");
  return element;
}

void free_element(MpiElement& element) {
  MPI_Op_free(&element.sum);
  MPI_Type_free(&element.type);
}

}  // namespace

MpiComm::MpiComm(Bootstrap& bootstrap, Nanoseconds deadline, const RankExit& rank_exit)
    : job_rank_(own_job_rank(bootstrap)), deadline_(deadline), rank_exit_(rank_exit) {
  const std::vector<int> ranks = world_ranks_of(bootstrap);
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group");
  const int included = MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
  MPI_Group_free(&world);
  check_mpi(included, "MPI_Group_incl");
  const int created = [&] {
    const ExitGuard guard = guard_against("make a communicator");
    return MPI_Comm_create_group(MPI_COMM_WORLD, group, kGroupTag, &comm_);
  }();
  MPI_Group_free(&group);
  check_mpi(created, "MPI_Comm_create_group");
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
}

MpiComm::~MpiComm() {
  const ExitGuard guard = guard_against("release a communicator");
  MPI_Comm_free(&comm_);
}

ExitGuard MpiComm::guard_against(const char* what) const {
  return {timeout_error(job_rank_, deadline_, std::string("MPI to ") + what), deadline_,
          rank_exit_};
}

MpiElements::MpiElements()
    : bfloat16_(make_element<DType::kBFloat16>()), float16_(make_element<DType::kFloat16>()) {}

MpiElements::~MpiElements() {
  free_element(bfloat16_);
  free_element(float16_);
}

MpiElement MpiElements::of(DType type) const {
  switch (type) {
    case DType::kFloat32:
      return {MPI_FLOAT, MPI_SUM};
    case DType::kBFloat16:
      return bfloat16_;
    case DType::kFloat16:
      return float16_;
  }
  return {};
}

namespace {

constexpr int kMessageTag = 1;

// The time for an aborted rank's program to report its error beside its own report, and the time
// for MPI to end the job.
constexpr Nanoseconds kGrace = std::chrono::seconds(2);
constexpr unsigned kSecondsToEnd = 5;

[[noreturn]] void exit_at_once(int) { _exit(1); }

// Called where a thread of this process is inside MPI for good.
void end_job(Bootstrap& bootstrap, const RankExit& rank_exit, const Error& error) {
  rank_exit.report(error);
  // The line is written in one piece, since the launcher writes to the same stream.
  std::cerr << std::string(error.what()) + "\n" << std::flush;
  rank_exit.leave(error);
  std::signal(SIGALRM, exit_at_once);  // bootstrap.abort() may hang inside MPI
  alarm(kSecondsToEnd);
  bootstrap.abort(1);
  _exit(1);
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

int ranks_in(MPI_Comm comm) {
  int ranks = 0;
  check_mpi(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  return ranks;
}

// Collectives and the callers' control messages do not mix: each kind has an MPI communicator.
class MpiTransport final : public BlockingTransport {
 public:
  MpiTransport(Bootstrap& bootstrap, const CommunicatorOptions& options)
      : on_stream_(bootstrap, options.deadline, options.rank_exit),
        on_host_(bootstrap, options.deadline, options.rank_exit),
        rank_(rank_in(on_stream_.get())),
        ranks_(ranks_in(on_stream_.get())),
        job_ranks_(bootstrap.job_ranks()),
        rank_exit_(options.rank_exit),
        watchdog_(job_rank(rank_), options.deadline, [this, &bootstrap](const Error& error) {
          end_job(bootstrap, rank_exit_, error);
        }) {}

  void all_reduce(const CollectiveCall& call, ConstAnySpan mine, AnySpan result) override {
    const MpiElement element = elements_.of(result.dtype());
    const bool in_place = mine.data() == result.data();
    for_chunks(result, [&](std::int64_t done, int count) {
      const void* const from = in_place ? MPI_IN_PLACE : mine.subspan(done, count).data();
      inside(call, "MPI_Allreduce", [&] {
        return MPI_Allreduce(from, result.subspan(done, count).data(), count, element.type,
                             element.sum, on_stream_.get());
      });
    });
  }

  void reduce(const CollectiveCall& call, AnySpan values, int root) override {
    const MpiElement element = elements_.of(values.dtype());
    for_chunks(values, [&](std::int64_t done, int count) {
      void* const part = values.subspan(done, count).data();
      inside(call, "MPI_Reduce", [&] {
        return MPI_Reduce(rank_ == root ? MPI_IN_PLACE : part, part, count, element.type,
                          element.sum, root, on_stream_.get());
      });
    });
  }

  // Reduces through a packed copy: a chunk takes a slice of every rank's part, and the slices lie
  // apart.
  void reduce_scatter(const CollectiveCall& call, ConstAnySpan all, AnySpan mine) override {
    const MpiElement element = elements_.of(mine.dtype());
    const std::int64_t slice = slice_of(mine.dtype());
    packed_.resize(static_cast<std::size_t>(slice * ranks_ * size_of(mine.dtype())));
    for (std::int64_t done = 0; done < mine.size(); done += slice) {
      const std::int64_t count = std::min(slice, mine.size() - done);
      pack(all, mine.size(), done, count);
      inside(call, "MPI_Reduce_scatter_block", [&] {
        return MPI_Reduce_scatter_block(packed_.data(), mine.subspan(done, count).data(),
                                        static_cast<int>(count), element.type, element.sum,
                                        on_stream_.get());
      });
    }
  }

  void broadcast(const CollectiveCall& call, AnySpan values, int root) override {
    const MPI_Datatype type = elements_.of(values.dtype()).type;
    for_chunks(values, [&](std::int64_t done, int count) {
      inside(call, "MPI_Bcast", [&] {
        return MPI_Bcast(values.subspan(done, count).data(), count, type, root, on_stream_.get());
      });
    });
  }

  void all_gather(const CollectiveCall& call, ConstAnySpan mine, AnySpan all) override {
    const MPI_Datatype type = elements_.of(mine.dtype()).type;
    const bool in_place = mine.data() == all.subspan(rank_ * mine.size(), mine.size()).data();
    const std::int64_t slice = slice_of(mine.dtype());
    const std::vector<int> offsets = offsets_of_parts(mine.size());
    for (std::int64_t done = 0; done < mine.size(); done += slice) {
      const int count = static_cast<int>(std::min(slice, mine.size() - done));
      const std::vector<int> counts(static_cast<std::size_t>(ranks_), count);
      void* const to = all.subspan(done, count).data();
      const void* const from = in_place ? MPI_IN_PLACE : mine.subspan(done, count).data();
      inside(call, "MPI_Allgatherv", [&] {
        return MPI_Allgatherv(from, in_place ? 0 : count, type, to, counts.data(), offsets.data(),
                              type, on_stream_.get());
      });
    }
  }

  void send(const CollectiveCall& call, ConstAnySpan values, int to) override {
    const MPI_Datatype type = elements_.of(values.dtype()).type;
    for_chunks(values, [&](std::int64_t done, int count) {
      inside(call, "MPI_Send", [&] {
        return MPI_Send(values.subspan(done, count).data(), count, type, to, kMessageTag,
                        on_stream_.get());
      });
    });
  }

  void recv(const CollectiveCall& call, AnySpan values, int from) override {
    const MPI_Datatype type = elements_.of(values.dtype()).type;
    for_chunks(values, [&](std::int64_t done, int count) {
      MPI_Status status{};
      inside(call, "MPI_Recv", [&] {
        return MPI_Recv(values.subspan(done, count).data(), count, type, from, kMessageTag,
                        on_stream_.get(), &status);
      });
      int came = 0;
      check_mpi(MPI_Get_count(&status, type, &came), "MPI_Get_count");
      if (came == count) return;
      fail(PeerFailure{.kind = PeerFailure::Kind::kDiverged},
           "rank {} sent {} elements and rank {} receives {}: both must name as many",
           job_rank(from), done + came, job_rank(rank_), values.size());
    });
  }

  [[nodiscard]] std::vector<std::string> gather_texts(const CollectiveCall& call,
                                                      const std::string& mine) override {
    const auto ranks = static_cast<std::size_t>(ranks_);
    const int length = static_cast<int>(mine.size());
    std::vector<int> lengths(ranks);
    inside(call, "MPI_Allgather", [&] {
      return MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, on_host_.get());
    });
    std::vector<int> offsets(ranks);
    std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
    std::string all(static_cast<std::size_t>(offsets.back() + lengths.back()), '\0');
    if (all.empty()) return std::vector<std::string>(ranks);  // a barrier
    inside(call, "MPI_Allgatherv", [&] {
      return MPI_Allgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(),
                            offsets.data(), MPI_CHAR, on_host_.get());
    });
    std::vector<std::string> texts;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      texts.push_back(all.substr(static_cast<std::size_t>(offsets[rank]),
                                 static_cast<std::size_t>(lengths[rank])));
    }
    return texts;
  }

  // Other ranks may wait for this rank inside MPI, where only the job's end reaches them. This
  // rank's program first gets time to report its error and end the job itself.
  void abort() noexcept override {
    aborted_ = true;
    if (ranks_ == 1) return;
    watchdog_.expire(kGrace + rank_exit_.grace,
                     fmt::format("rank {} has aborted its communicator while others may wait for "
                                 "it: ending the job; look at what was said before",
                                 job_rank(rank_)));
  }

 private:
  [[nodiscard]] int job_rank(int rank) const { return job_ranks_[static_cast<std::size_t>(rank)]; }

  // Each wait of a collective has the whole deadline: the collective ends only with its last chunk.
  template <class Call>
  void inside(const CollectiveCall& call, const char* function, Call&& run) {
    if (aborted_) throw aborted_by_others(job_rank(rank_));
    int code = MPI_SUCCESS;
    {
      const auto watch = watchdog_.watch(call);
      code = run();
    }
    check_mpi(code, function);
  }

  template <class Span, class Body>
  static void for_chunks(Span values, Body&& body) {
    const std::int64_t chunk = kMpiChunk.value / size_of(values.dtype());
    for (std::int64_t done = 0; done < values.size(); done += chunk) {
      body(done, static_cast<int>(std::min(chunk, values.size() - done)));
    }
  }

  // The elements of each rank's part in a chunk.
  [[nodiscard]] std::int64_t slice_of(DType type) const {
    return std::max<std::int64_t>(1, kMpiChunk.value / size_of(type) / ranks_);
  }

  void pack(ConstAnySpan all, std::int64_t part, std::int64_t done, std::int64_t count) {
    const auto bytes = static_cast<std::size_t>(count * size_of(all.dtype()));
    for (int peer = 0; peer < ranks_; ++peer) {
      std::memcpy(packed_.data() + static_cast<std::size_t>(peer) * bytes,
                  all.subspan(peer * part + done, count).data(), bytes);
    }
  }

  [[nodiscard]] std::vector<int> offsets_of_parts(std::int64_t part) const {
    TANDEM_CHECK(part * ranks_ <= std::numeric_limits<int>::max(),
                 "{} elements, and MPI counts to 2^31", part * ranks_);
    std::vector<int> offsets;
    for (int peer = 0; peer < ranks_; ++peer) offsets.push_back(static_cast<int>(peer * part));
    return offsets;
  }

  const MpiComm on_stream_;
  const MpiComm on_host_;
  const MpiElements elements_;
  const int rank_;
  const int ranks_;
  const std::vector<int> job_ranks_;  // the job's number of each rank, for messages
  std::vector<std::byte> packed_;     // used by the stream's worker
  std::atomic<bool> aborted_ = false;
  const RankExit rank_exit_;
  Watchdog watchdog_;
};

}  // namespace

std::unique_ptr<Communicator> make_mpi_communicator(Bootstrap& bootstrap, Device& device,
                                                    const CommunicatorOptions& options) {
  if (bootstrap.shares_address_space() && bootstrap.size() > 1) {
    fail(ErrorKind::kUsage,
         "the transport mpi needs a process for each rank, and these are threads: launch "
         "processes, or take the transport shared_memory");
  }
  return make_blocking_communicator(bootstrap, device, options,
                                    std::make_unique<MpiTransport>(bootstrap, options));
}

}  // namespace tandem
