// SPDX-License-Identifier: Apache-2.0
//
// Work that a team shares: all members walk through the same code, share the elements among them,
// and know each result. On a GPU the team is a block of threads.
//
// A team has
//   State reduce(count, nothing, take, merge)   the elements i < count taken up one by one, by
//       state = take(state, i) from `nothing` on, and the members' states merged in one order: the
//       same bits every time and for every member
//   void each(count, body)   body(i) for all i < count, i by the same member whenever the count is
//       the same; done for all members on return
//   void alone(body)         body() once; others do not wait for it
//   keep(count, make)        a function of i < count that gives make(i), for the member whose i it
//       is: from registers where there is a member for each i, else made anew each time
//   running(count, memory)   values[i], i < count, for the member whose i it is: registers where
//       there is a member for each i, else `memory`
// States are trivial to copy and to make, in whole words of 32 bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "common/base/rounding.h"
#include "common/kernels/cuda/device_code.h"

namespace tandem::cuda {

// The sum of term(i) over i < count, in the type of the terms, which may be a pair.
template <class Team, class Term>
TANDEM_DEVICE auto sum_of(Team& team, std::int64_t count, const Term& term) {
  using Sum = decltype(term(std::int64_t{}));
  return team.reduce(
      count, Sum{}, [&](const Sum& sum, std::int64_t i) { return sum + term(i); },
      [](const Sum& a, const Sum& b) { return a + b; });
}

// Two sums taken in one pass.
template <class T>
struct Pair {
  T first;
  T second;

  TANDEM_DEVICE Pair operator+(const Pair& other) const {
    return {first + other.first, second + other.second};
  }
};
using FloatPair = Pair<float>;

// A sum of exponentials, relative to the largest exponent so far (Milakov and Gimelshein, "Online
// normalizer calculation for softmax", 2018): one pass over the elements.
struct ExponentialSum {
  float largest;
  float sum;  // of exp(x - largest)

  TANDEM_DEVICE void add(float x) {
    if (x > largest) {
      sum = sum * std::exp(largest - x) + 1;
      largest = x;
    } else {
      sum += std::exp(x - largest);  // NaN, too, which stays
    }
  }
  TANDEM_DEVICE ExponentialSum operator+(const ExponentialSum& other) const {
    const float most = largest > other.largest ? largest : other.largest;
    return {most, sum * std::exp(largest - most) + other.sum * std::exp(other.largest - most)};
  }
};

// log(sum(exp(x))) over all x that add(sum, i) adds to `sum` over i < count, one at least.
template <class Team, class Add>
TANDEM_DEVICE float log_sum_of(Team& team, std::int64_t count, const Add& add) {
  // Finite, so that the difference of two who have taken up nothing is a number.
  const ExponentialSum nothing{std::numeric_limits<float>::lowest(), 0};
  const ExponentialSum all = team.reduce(
      count, nothing,
      [&](ExponentialSum state, std::int64_t i) {
        add(state, i);
        return state;
      },
      [](const ExponentialSum& a, const ExponentialSum& b) { return a + b; });
  return all.largest + std::log(all.sum);
}

// The first i in [begin, end) for which holds(i); end where there is none.
template <class Team, class Predicate>
TANDEM_DEVICE std::int64_t first_of(Team& team, std::int64_t begin, std::int64_t end,
                                    const Predicate& holds) {
  constexpr std::int64_t kStretch = 2048;  // looked at whole, before anyone knows of a find
  for (; begin < end; begin += kStretch) {
    const std::int64_t found = team.reduce(
        end - begin < kStretch ? end - begin : kStretch, end,
        [&](std::int64_t first, std::int64_t i) {
          return begin + i < first && holds(begin + i) ? begin + i : first;
        },
        [](std::int64_t a, std::int64_t b) { return a < b ? a : b; });
    if (found < end) return found;
  }
  return end;
}

// Sums that leave one number, by teams which take some elements each as a row.

inline constexpr std::int64_t kElementsOfRow = 1024;

[[nodiscard]] constexpr std::int64_t rows_of(std::int64_t count) {
  return ceil_div(count, kElementsOfRow);
}

// The sum of term(i) over row r's elements.
template <class Team, class Term>
TANDEM_DEVICE double sum_of_row(Team& team, std::int64_t r, std::int64_t count, const Term& term) {
  const std::int64_t first = r * kElementsOfRow;
  const std::int64_t left = count - first;
  return sum_of(team, left < kElementsOfRow ? left : kElementsOfRow,
                [&](std::int64_t i) { return term(first + i); });
}

}  // namespace tandem::cuda
