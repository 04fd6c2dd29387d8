// SPDX-License-Identifier: Apache-2.0
//
// Elements that are taken or put by a tensor of places, of IndexKernel.cu and
// ScatterGatherKernel.cu. Their names have the size of an element alone. The kernels' second
// argument is a lambda that keeps an OffsetCalculator and behind it, 8 bytes each:
//
//   gpu_index_kernel                        to, from, how many indices, then 25 pointers to
//                                           indices, 25 sizes and 25 strides in bytes
//   _cuda_scatter_gather_internal_kernel    index, size, (the functor), to, stride in elements,
//                                           (number), from
//   _cuda_scatter_fill_internal_kernel      the same, with a value for `from`
//
// vectorized_gather_kernel takes its arguments one by one: to, from, index, how many, the bytes of
// a row, size, strides in bytes of `from` and `to`, whether indices count from the end.
#include <algorithm>
#include <cstdlib>

#include "pretend/torch_kernels/name.h"
#include "pretend/torch_kernels/operands.h"
#include "pretend/torch_kernels/torch_kernel.h"

namespace tandem::pretend::torch_kernels {
namespace {

enum class Kind : uint8_t { kIndex, kIndexPut, kGather, kScatter, kScatterFill, kRows };

// One dimension's indices.
struct Places {
  const char* index = nullptr;
  int64_t size = 0;
  int64_t stride = 0;  // in bytes

  // Adds to the offset what the index says; false where it is out of range.
  [[nodiscard]] bool add(uint64_t at, uint64_t& offset) const {
    int64_t place = read<int64_t>(index, at);
    place += place < 0 ? size : 0;
    offset += static_cast<uint64_t>(place * stride);
    return place >= 0 && place < size;
  }
};

struct Launch {
  char* to = nullptr;
  const char* from = nullptr;  // nullptr: the value
  int64_t value = 0;
  uint64_t element_bytes = 0;
  uint64_t elements = 0;
  Placement layout{};  // operands: to, from, index; without `from`: to, index
  size_t dims = 0;
  std::array<Places, kMostDims> places{};
};

class Indexing : public TorchKernel {
 public:
  Kind kind = Kind::kIndex;
  uint64_t element_bytes = 0;

  [[nodiscard]] bool compute(void** arguments, unsigned) const override {
    Launch launch{.element_bytes = element_bytes};
    Accesses accesses;
    if (!(kind == Kind::kRows ? decode_rows(arguments, launch) : decode(arguments, launch)) ||
        !declare(launch, accesses) || !accesses.begin()) {
      return false;
    }
    // Most elements of four bytes and two are floats, which need no time of the host's.
    if ((element_bytes == 4 || element_bytes == 2) && !accesses.are_known()) return false;
    run(launch);
    accesses.end();
    return true;
  }

 private:
  [[nodiscard]] int operands() const { return kind == Kind::kScatterFill ? 2 : 3; }
  [[nodiscard]] bool puts() const {
    return kind == Kind::kIndexPut || kind == Kind::kScatter || kind == Kind::kScatterFill;
  }

  bool decode(void** arguments, Launch& launch) const {
    const bool indexes = kind == Kind::kIndex || kind == Kind::kIndexPut;
    const auto* const lambda = static_cast<const char*>(arguments[1]);
    const char* const at = lambda + aligned(Placement::bytes(operands()), 8);
    launch.elements = indexes ? read<uint64_t>(arguments[0]) : read<uint32_t>(arguments[0]);
    launch.dims = 1;
    Places& first = launch.places[0];
    if (indexes) {
      launch.to = read<char*>(at);
      launch.from = read<const char*>(at, 8);
      launch.dims = read<size_t>(at, 16);
      for (size_t dim = 0; dim < std::min<size_t>(launch.dims, kMostDims); ++dim) {
        launch.places[dim] = {read<const char*>(at, 24 + 8 * dim),
                              read<int64_t>(at, 24 + 8 * (kMostDims + dim)),
                              read<int64_t>(at, 24 + 8 * (2 * kMostDims + dim))};
      }
    } else {
      const bool fills = kind == Kind::kScatterFill;
      launch.to = read<char*>(at, 24);
      first = {read<const char*>(at), read<int64_t>(at, 8),
               read<int64_t>(at, 32) * static_cast<int64_t>(element_bytes)};
      launch.from = fills ? nullptr : read<const char*>(at, 48);
      launch.value = fills ? read<int64_t>(at, 48) : 0;
    }
    return launch.dims > 0 && launch.dims <= kMostDims &&
           launch.layout.read_from(lambda, operands()) &&
           launch.layout.elements() == launch.elements;
  }

  // Rows are elements of one dimension.
  static bool decode_rows(void** arguments, Launch& launch) {
    launch.to = read<char*>(arguments[0]);
    launch.from = read<const char*>(arguments[1]);
    launch.elements = read<uint32_t>(arguments[3]);
    launch.element_bytes = read<uint64_t>(arguments[4]);
    launch.dims = 1;
    launch.places[0] = {read<const char*>(arguments[2]), read<int64_t>(arguments[5]),
                        read<int64_t>(arguments[6])};
    launch.layout.sizes[0] = static_cast<uint32_t>(launch.elements);
    launch.layout.strides[0][0] = read<uint32_t>(arguments[7]);
    launch.layout.strides[2][0] = sizeof(int64_t);
    return launch.elements > 0;
  }

  bool declare(const Launch& launch, Accesses& accesses) const {
    const uint64_t size = launch.element_bytes;
    const uint64_t used = launch.elements * size;
    uint64_t range = 0;  // of what the indices add
    for (size_t dim = 0; dim < launch.dims; ++dim) {
      const Places& places = launch.places[dim];
      if (places.size <= 0 || places.stride < 0) return false;
      range += static_cast<uint64_t>((places.size - 1) * places.stride);
      accesses.reads(places.index, launch.layout.extent(operands() - 1, sizeof(int64_t)),
                     launch.elements * sizeof(int64_t));
    }
    accesses.writes(launch.to, launch.layout.extent(0, size) + (puts() ? range : 0), used);
    if (launch.from != nullptr) {
      accesses.reads(launch.from, launch.layout.extent(1, size) + (puts() ? 0 : range), used);
    }
    return true;
  }

  void run(const Launch& launch) const {
    for (uint64_t element = 0; element < launch.elements; ++element) {
      uint64_t to = launch.layout.offset(0, element);
      uint64_t from = launch.from == nullptr ? 0 : launch.layout.offset(1, element);
      const uint64_t index = launch.layout.offset(operands() - 1, element);
      bool is_inside = true;
      for (size_t dim = 0; dim < launch.dims; ++dim) {
        is_inside = launch.places[dim].add(index, puts() ? to : from) && is_inside;
      }
      if (is_inside) {
        std::memcpy(
            launch.to + to,
            launch.from == nullptr ? static_cast<const void*>(&launch.value) : launch.from + from,
            launch.element_bytes);
      }
    }
  }
};

struct Name {
  std::string_view token;
  Kind kind;
};
constexpr Name kNames[] = {
    {"17index_kernel_implINS0_10OpaqueTypeILi", Kind::kIndex},
    {"21index_put_kernel_implINS0_10OpaqueTypeILi", Kind::kIndexPut},
    {"36_cuda_scatter_gather_internal_kernelILb0ENS0_10OpaqueTypeILi", Kind::kGather},
    {"36_cuda_scatter_gather_internal_kernelILb1ENS0_10OpaqueTypeILi", Kind::kScatter},
    {"34_cuda_scatter_fill_internal_kernelINS0_10OpaqueTypeILi", Kind::kScatterFill},
};

}  // namespace

std::unique_ptr<TorchKernel> indexing(std::string_view name) {
  auto kernel = std::make_unique<Indexing>();
  if (has(name, "24vectorized_gather_kernelILi16ElE")) {
    kernel->kind = Kind::kRows;
    return kernel;
  }
  for (const auto& [token, kind] : kNames) {
    const std::string_view size = behind(name, token);
    const bool indexes = kind == Kind::kIndex || kind == Kind::kIndexPut;
    // Places are int64_t, which torch before 2.9 does not say; values are put and not added.
    const bool known = indexes ? has(name, "16gpu_index_kernelI")
                               : has(size, "12TensorAssign") && !has(size.substr(0, 6), "Ei");
    if (!size.empty() && known) {
      kernel->kind = kind;
      kernel->element_bytes = std::strtoul(size.data(), nullptr, 10);
      return kernel->element_bytes <= 8 ? std::move(kernel) : nullptr;
    }
  }
  return nullptr;
}

}  // namespace tandem::pretend::torch_kernels
