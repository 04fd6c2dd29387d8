// SPDX-License-Identifier: Apache-2.0
//
// The module's device code, without a GPU: every kernel is known by its address once the
// module is loaded, so that all can be loaded before any is launched.
#include "common/runtime/cuda/own_kernels.h"

#include <gtest/gtest.h>

#include <set>

#include "common/base/half.h"
#include "common/kernels/cuda/functions.h"

namespace tandem::cuda {
namespace {

// One for single elements, and one for each width of packs that the function takes.
template <class Function>
constexpr std::size_t visits() {
  return 1 + (Packable<Function> ? 1 : 0) + (WidelyPackable<Function> ? 1 : 0);
}

constexpr std::size_t kElementwise = 0
#define TANDEM_COUNT(...) +visits<__VA_ARGS__>()
    TANDEM_EACH_ELEMENTWISE(TANDEM_COUNT)
#undef TANDEM_COUNT
    ;

constexpr std::size_t kRowwise = 0
#define TANDEM_COUNT(...) +visits<__VA_ARGS__>()
    TANDEM_EACH_ROWWISE(TANDEM_COUNT)
#undef TANDEM_COUNT
    ;

constexpr std::size_t kRowSums = 0
#define TANDEM_COUNT(...) +2  // its parts and their sum
    TANDEM_EACH_ROW_SUM(TANDEM_COUNT)
#undef TANDEM_COUNT
    ;

constexpr std::size_t kStretchSums = 0
#define TANDEM_COUNT(...) \
  +2 * (__VA_ARGS__::kWidest == kPack ? 2 : 3)  // widths of packs, both layouts
    TANDEM_EACH_STRETCH_SUM(TANDEM_COUNT)
#undef TANDEM_COUNT
    ;

constexpr std::size_t kScale = TANDEM_SCALE_KERNELS;  // of the communicator over NCCL, by type

TEST(OwnKernels, AreAllKnown_EachOnce) {
  const std::set<const void*> distinct(own_kernels().begin(), own_kernels().end());
  EXPECT_EQ(distinct.size(), own_kernels().size());
  EXPECT_EQ(own_kernels().size(), kElementwise + kRowwise + kRowSums + kStretchSums + kScale);
}

}  // namespace
}  // namespace tandem::cuda
