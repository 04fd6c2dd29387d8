// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Marks what runs in kernels. To the host's compiler it says nothing: the tests run the same code
// there, element by element.
#ifdef __CUDACC__
#define TANDEM_DEVICE __device__
#else
#define TANDEM_DEVICE
#endif

namespace tandem::cuda {

struct Division {
  std::int64_t quotient;
  std::int64_t remainder;
};

// Divides non-negative numbers. A GPU divides 32-bit numbers several times as fast as 64-bit
// numbers.
TANDEM_DEVICE inline Division divide(std::int64_t number, std::int64_t by) {
  if (((number | by) >> 32) == 0) {
    const auto narrow = static_cast<std::uint32_t>(number);
    const auto divisor = static_cast<std::uint32_t>(by);
    const std::uint32_t quotient = narrow / divisor;
    return {quotient, narrow - quotient * divisor};
  }
  const std::int64_t quotient = number / by;
  return {quotient, number - quotient * by};
}

}  // namespace tandem::cuda
