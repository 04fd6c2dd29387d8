// SPDX-License-Identifier: Apache-2.0
#include "common/comm/mpi/mpi_handles.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/comm/collective_errors.h"
#include "common/comm/reduction.h"

namespace tandem {
namespace {

int code_class(int code) {
  int kind = MPI_ERR_OTHER;
  MPI_Error_class(code, &kind);
  return kind;
}

}  // namespace

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

namespace {

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

}  // namespace tandem
