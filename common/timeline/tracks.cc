// SPDX-License-Identifier: Apache-2.0
#include "common/timeline/tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace tandem::timeline {

void sort_slices(Track& track) {
  std::ranges::stable_sort(track.slices, [](const Slice& a, const Slice& b) {
    return std::tuple(a.begin, -a.end, a.kind) < std::tuple(b.begin, -b.end, b.kind);
  });
}

void add_layers(Track& track) {
  std::vector<Slice> layers;
  bool goes_on = false;  // the next operation may belong to the latest layer
  for (const Slice& slice : track.slices) {
    if (is_of_gpu(slice.kind)) continue;  // within an operation, or beside one
    if (slice.kind != SliceKind::kOperation || slice.layer.empty()) {
      goes_on = false;
      continue;
    }
    if (goes_on && layers.back().name == slice.layer) {
      layers.back().end = slice.end;
      continue;
    }
    layers.push_back({.kind = SliceKind::kLayer,
                      .name = slice.layer,
                      .begin = slice.begin,
                      .end = slice.end,
                      .step = slice.step});
    goes_on = true;
  }
  track.slices.insert(track.slices.end(), layers.begin(), layers.end());
  sort_slices(track);
}

namespace {

// Decides which slices of a sorted track stay. The slices that are open where a later slice begins
// lie on a stack.
class SliceSweep {
 public:
  explicit SliceSweep(const std::vector<Slice>& slices)
      : slices_(slices), stays_(slices.size(), true) {
    for (std::size_t index = 0; index < slices.size(); ++index) meet(index);
  }

  [[nodiscard]] bool stays(std::size_t index) const { return stays_[index]; }

 private:
  void meet(std::size_t index) {
    const Slice& slice = slices_[index];
    std::erase_if(open_, [&](std::size_t one) { return slices_[one].end <= slice.begin; });
    if (is_of_gpu(slice.kind)) {
      stays_[index] =
          std::ranges::all_of(open_, [&](std::size_t one) { return holds(one, index); });
    } else {
      // Enqueued work lies in nothing that a GPU ran.
      std::erase_if(open_, [&](std::size_t one) {
        if (is_of_gpu(slices_[one].kind)) stays_[one] = false;
        return !stays_[one];
      });
    }
    if (stays_[index]) open_.push_back(index);
  }

  // A slice that a GPU ran contains no other slice that a GPU ran.
  [[nodiscard]] bool holds(std::size_t outer, std::size_t inner) const {
    return !is_of_gpu(slices_[outer].kind) && slices_[inner].end <= slices_[outer].end;
  }

  const std::vector<Slice>& slices_;
  std::vector<bool> stays_;
  std::vector<std::size_t> open_;  // seldom more than a handful
};

// Puts the slice on the first of the tracks whose slices the slice does not overlap.
void add_apart(std::vector<Track>& tracks, const Track& like, Slice slice) {
  const auto has_room = [&](const Track& one) { return one.slices.back().end <= slice.begin; };
  auto room = std::ranges::find_if(tracks, has_room);
  if (room == tracks.end()) {
    const std::string number = tracks.empty() ? "" : fmt::format(" {}", tracks.size() + 1);
    tracks.push_back({.device = like.device, .name = like.name + " beside" + number});
    room = std::prev(tracks.end());
  }
  room->slices.push_back(std::move(slice));
}

}  // namespace

std::vector<Track> split_crossing(Track& track) {
  const SliceSweep sweep(track.slices);
  std::vector<Slice> kept;
  std::vector<Track> beside;
  for (std::size_t index = 0; index < track.slices.size(); ++index) {
    Slice& slice = track.slices[index];
    if (sweep.stays(index)) {
      kept.push_back(std::move(slice));
    } else {
      add_apart(beside, track, std::move(slice));
    }
  }
  track.slices = std::move(kept);
  return beside;
}

}  // namespace tandem::timeline
