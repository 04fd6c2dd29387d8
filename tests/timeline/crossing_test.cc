// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/timeline/tracks.h"

namespace tandem::timeline {
namespace {

Slice slice_between(SliceKind kind, const std::string& name, int begin, int end) {
  return {.kind = kind, .name = name, .begin = Nanoseconds{begin}, .end = Nanoseconds{end}};
}

// Names of the slices, by track, the one that was given first.
std::vector<std::string> taken(std::vector<Slice> slices) {
  Track track{.device = 2, .name = "compute", .slices = std::move(slices)};
  sort_slices(track);
  std::vector<Track> all = split_crossing(track);
  all.insert(all.begin(), track);
  std::vector<std::string> texts;
  for (const Track& one : all) {
    EXPECT_EQ(one.device, 2);
    std::string text = one.name + ":";
    for (const Slice& each : one.slices) text += " " + each.name;
    texts.push_back(text);
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(Crossing, WhatNestsOrIsApart_Stays) {
  EXPECT_EQ(taken({slice_between(SliceKind::kOperation, "o", 0, 10),
                   slice_between(SliceKind::kKernel, "a", 0, 10),
                   slice_between(SliceKind::kOperation, "p", 10, 20),
                   slice_between(SliceKind::kKernel, "b", 10, 15),
                   slice_between(SliceKind::kMemory, "c", 15, 20),
                   slice_between(SliceKind::kKernel, "d", 25, 30)}),
            Texts{"compute: o a p b c d"});
}

TEST(Crossing, AKernelOverTheEndOfItsOperation_IsBeside) {
  EXPECT_EQ(taken({slice_between(SliceKind::kOperation, "o", 0, 10),
                   slice_between(SliceKind::kKernel, "a", 5, 12),
                   slice_between(SliceKind::kOperation, "p", 10, 20),
                   slice_between(SliceKind::kKernel, "b", 12, 15)}),
            (Texts{"compute: o p b", "compute beside: a"}));
}

TEST(Crossing, AKernelOverTheBeginningOfAnOperation_IsBeside) {
  EXPECT_EQ(taken({slice_between(SliceKind::kKernel, "a", 5, 30),
                   slice_between(SliceKind::kOperation, "o", 10, 20),
                   slice_between(SliceKind::kKernel, "b", 12, 15)}),
            (Texts{"compute: o b", "compute beside: a"}));
}

TEST(Crossing, KernelsAtOnce_AreOnAsManyTracksAsThereAreAtOnce) {
  EXPECT_EQ(taken({slice_between(SliceKind::kKernel, "a", 0, 10),
                   slice_between(SliceKind::kKernel, "b", 1, 4),
                   slice_between(SliceKind::kKernel, "c", 2, 6),
                   slice_between(SliceKind::kKernel, "d", 5, 8)}),
            (Texts{"compute: a", "compute beside: b d", "compute beside 2: c"}));
}

}  // namespace
}  // namespace tandem::timeline
