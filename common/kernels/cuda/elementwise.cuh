// SPDX-License-Identifier: Apache-2.0
//
// Each operation at element i, or to a pack from i on: at<width>(i). In place is safe,
// since a pack is loaded whole before it is stored. `packed()`: all operands may be taken in packs;
// without it, they never are.
#pragma once

#include <cstdint>

#include "common/base/half.h"
#include "common/kernels/cuda/device_code.h"
#include "common/kernels/cuda/pack.h"
#include "common/kernels/cuda/team.h"
#include "common/tensor/random.h"

namespace tandem::cuda {

struct AddElements {
  const float* a;
  const float* b;
  float* out;

  [[nodiscard]] bool packed() const { return are_packed(a, b, out); }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    Pack<float, width> result = load<width>(a + i);
    const Pack<float, width> other = load<width>(b + i);
    for (int j = 0; j < width; ++j) result[j] += other[j];
    store(out + i, result);
  }
};

struct ScaleElements {
  const float* in;
  float* out;
  float factor;

  [[nodiscard]] bool packed() const { return are_packed(in, out); }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    Pack<float, width> values = load<width>(in + i);
    for (int j = 0; j < width; ++j) values[j] *= factor;
    store(out + i, values);
  }
};

// The elements of one tensor, as EachTensor (updates.cuh) takes it.
struct AddScalarElements {
  using Tensor = float*;

  float constant;

  [[nodiscard]] static bool packed(const float* values) { return are_packed(values); }

  template <int width>
  TANDEM_DEVICE void at(float* tensor, std::int64_t i) const {
    Pack<float, width> values = load<width>(static_cast<const float*>(tensor) + i);
    for (int j = 0; j < width; ++j) values[j] += constant;
    store(tensor + i, values);
  }
};

struct FillElements {
  float* values;
  float constant;

  [[nodiscard]] bool packed() const { return are_packed(values); }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    Pack<float, width> same;
    for (int j = 0; j < width; ++j) same[j] = constant;
    store(values + i, same);
  }
};

// The elements of one tensor, as EachTensor takes it. Rounds twice where there is a divisor:
// Convert in operations.h says why.
template <class In, class Out>
struct ConvertElements {
  struct Tensor {
    const In* in;
    Out* out;
  };

  float divisor;

  [[nodiscard]] bool packed(const Tensor& t) const { return are_packed(t.in, t.out); }

  template <int width>
  TANDEM_DEVICE void at(const Tensor& t, std::int64_t i) const {
    const Pack<In, width> values = load<width>(t.in + i);
    Pack<Out, width> results;
    for (int j = 0; j < width; ++j) {
      results[j] = Out(static_cast<float>(values[j]));
      if (divisor != 1) results[j] = Out(static_cast<float>(results[j]) / divisor);
    }
    store(t.out + i, results);
  }
};

// Blocks of four random words; the "elements" are the blocks, of which the first and the last may
// lie partly outside. `Distribution` turns 32 random bits into a value.
template <class Distribution>
struct FillBlocks {
  float* values;
  std::int64_t count;
  std::uint64_t seed;
  std::uint64_t first;  // element of the sequence that values[0] is
  float scale;

  [[nodiscard]] std::int64_t blocks() const {
    return count == 0 ? 0 : (count - 1 + static_cast<std::int64_t>(first % 4)) / 4 + 1;
  }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t index) const {
    static_assert(width == 1, "a block is a pack already");
    const std::uint64_t block = first / 4 + static_cast<std::uint64_t>(index);
    const PhiloxCounter words =
        philox4x32({philox::low(block), philox::high(block), 0, 0}, philox_key(seed));
    const std::int64_t begin = 4 * index - static_cast<std::int64_t>(first % 4);
    for (int j = 0; j < 4; ++j) {
      const std::int64_t i = begin + j;
      if (i < 0 || i >= count) continue;
      values[i] = scale * Distribution::value(words[static_cast<std::size_t>(j)]);
    }
  }
};

struct Uniform {
  TANDEM_DEVICE static float value(std::uint32_t bits) { return uniform_from_bits(bits); }
};
struct SmallIntegers {
  TANDEM_DEVICE static float value(std::uint32_t bits) { return small_integer_from_bits(bits); }
};

struct WeightedSumSum {
  const float* values;
  const float* weights;
  float* sum;  // one element
  std::int64_t count;

  template <class Team>
  TANDEM_DEVICE double row(Team& team, std::int64_t r) const {
    return sum_of_row(team, r, count, [&](std::int64_t i) {
      return static_cast<double>(values[i]) * static_cast<double>(weights[i]);
    });
  }

  TANDEM_DEVICE void finish(double total) const { *sum = static_cast<float>(total); }
};

}  // namespace tandem::cuda
