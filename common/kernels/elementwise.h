// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "common/kernels/operands.h"

namespace tandem {

enum class Distribution {
  kUniform,        // scale * [-1, 1), in steps of 2^-23
  kSmallIntegers,  // scale * {-1, 0, 1}: sums of these are exact, in any order
};

// values[i] = element `first + i` of the random sequence that `seed` names: a pure function of
// (seed, first + i), whatever the partition (tensor/random.h).
struct FillRandom {
  Span<float> values;
  std::uint64_t seed = 0;
  std::uint64_t first = 0;
  Distribution distribution = Distribution::kUniform;
  float scale = 1;

  [[nodiscard]] std::vector<Access> accesses() const { return {writes(values)}; }
};

// values = constant
struct Fill {
  Span<float> values;
  float constant = 0;

  [[nodiscard]] std::vector<Access> accesses() const { return {writes(values)}; }
};

// out = factor * in; in place allowed.
struct Scale {
  Span<const float> in;
  Span<float> out;
  float factor = 1;

  [[nodiscard]] std::vector<Access> accesses() const {
    return checked({{"in", in, in.size()}, {"out", out, in.size()}});
  }
};

// values += constant for each tensor, all in one operation.
struct AddScalar {
  std::vector<Span<float>> tensors{};
  float constant = 0;

  [[nodiscard]] std::vector<Access> accesses() const {
    std::vector<Access> every;
    for (const Span<float> values : tensors) every.push_back(writes(values));
    return every;
  }
};

// sum = a + b; sum may be a.
struct Add {
  Span<const float> a;
  Span<const float> b;
  Span<float> sum;

  [[nodiscard]] std::vector<Access> accesses() const {
    const std::int64_t all = a.size();
    return checked({{"a", a, all}, {"b", b, all}, {"sum", sum, all}});
  }
};

// out = in as out's type, divided by `divisor` in that type: two roundings, as where a narrow
// tensor is divided after the cast. Does so for each tensor, all in one operation; there is at
// least one. Exactly one of `in` and `out` is fp32, the same one in all, and the other is of one
// type in all; the two do not overlap.
struct Convert {
  struct Tensor {
    ConstAnySpan in;
    AnySpan out;
  };

  std::vector<Tensor> tensors{};
  float divisor = 1;

  [[nodiscard]] bool narrows() const { return tensors.front().in.dtype() == DType::kFloat32; }
  [[nodiscard]] DType narrow_type() const {
    return narrows() ? tensors.front().out.dtype() : tensors.front().in.dtype();
  }

  [[nodiscard]] std::vector<Access> accesses() const {
    TANDEM_CHECK(!tensors.empty(), "a conversion of no tensor");
    const DType from = tensors.front().in.dtype();
    const DType to = tensors.front().out.dtype();
    TANDEM_CHECK((from == DType::kFloat32) != (to == DType::kFloat32), "a conversion of {} to {}",
                 name_of(from), name_of(to));
    std::vector<Access> every;
    every.reserve(2 * tensors.size());
    for (const auto& [in, out] : tensors) {
      TANDEM_CHECK(out.size() == in.size(), "out has {} elements where {} are needed", out.size(),
                   in.size());
      TANDEM_CHECK(in.dtype() == from && out.dtype() == to, "{} to {} beside {} to {}",
                   name_of(in.dtype()), name_of(out.dtype()), name_of(from), name_of(to));
      every.push_back(reads(in.bytes()));
      every.push_back(writes(out.bytes()));
    }
    return every;
  }
};

// sum = values[0] * weights[0] + values[1] * weights[1] + ...
struct WeightedSum {
  Span<const float> values;
  Span<const float> weights;
  Span<float> sum;  // one element

  [[nodiscard]] std::vector<Access> accesses() const {
    const std::int64_t all = values.size();
    return checked({{"values", values, all}, {"weights", weights, all}, {"sum", sum, 1}});
  }
};

namespace host {

void run(const FillRandom& op);
void run(const Fill& op);
void run(const Scale& op);
void run(const AddScalar& op);
void run(const Add& op);
void run(const Convert& op);
void run(const WeightedSum& op);

}  // namespace host

}  // namespace tandem
