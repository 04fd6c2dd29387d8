// SPDX-License-Identifier: Apache-2.0
#include "common/comm/point_to_point.h"

#include "common/base/error.h"
#include "common/comm/stage.h"

namespace tandem {
namespace {

// The lower rank of the two has index 0 in their meeting.
Opening opening_of(const PointToPoint::Message& message) {
  return {.note = message.note,
          .root = message.from < message.to ? 0 : 1,
          .duration = message.duration,
          .one_way = true};
}

}  // namespace

PointToPoint::PointToPoint(ControlBlock& control, const Side& side, const Allocations& allocations,
                           Place stage)
    : rank_(side.rank), allocations_(allocations), stage_(stage) {
  for (int peer = 0; peer < static_cast<int>(side.devices.size()); ++peer) {
    if (peer == rank_) {
      meetings_.push_back(nullptr);
      continue;
    }
    const int low = std::min(rank_, peer);
    const int high = std::max(rank_, peer);
    const int mine = rank_ == low ? 0 : 1;
    const Rendezvous rendezvous(control.stream.aborted, control.pair(low, high),
                                {.sharing = side.sharing,
                                 .ranks = {side.job_ranks[static_cast<std::size_t>(low)],
                                           side.job_ranks[static_cast<std::size_t>(high)]},
                                 .mine = mine,
                                 .deadline = side.deadline});
    meetings_.push_back(std::make_unique<CollectiveMeeting>(
        rendezvous,
        CollectiveMeeting::Side{.rank = mine,
                                .devices = {side.devices[static_cast<std::size_t>(low)],
                                            side.devices[static_cast<std::size_t>(high)]},
                                .link = side.link}));
  }
}

host::ModelledTime PointToPoint::send(const Message& message, ConstByteSpan values,
                                      const host::ModelledTime& ready) {
  CollectiveMeeting& meeting = meeting_with(message.to);
  const Opening opening = opening_of(message);
  const Place place = allocations_.place_of(values.data());
  meeting.open(opening, place, ready);
  if (!place.is_allocated()) {
    std::byte* const stage = allocations_.at(stage_, rank_).get();
    for (std::int64_t done = 0; done < values.size(); done += kStageBytes) {
      copy_bytes(stage, values.data() + done, staged_part(values.size(), done));
      meeting.meet();
      meeting.meet();  // waits until the receiver has the chunk
    }
  }
  return meeting.close(opening);
}

host::ModelledTime PointToPoint::receive(const Message& message, ByteSpan values,
                                         const host::ModelledTime& ready) {
  CollectiveMeeting& meeting = meeting_with(message.from);
  const Opening opening = opening_of(message);
  meeting.open(opening, {}, ready);
  const Place place = meeting.place_of(opening.root);
  const auto source = allocations_.at(place.is_allocated() ? place : stage_, message.from);
  if (!source) meeting.fail_for_freed(opening.root);
  if (place.is_allocated()) {
    copy_bytes(values.data(), source.get(), values.size());
  } else {
    for (std::int64_t done = 0; done < values.size(); done += kStageBytes) {
      meeting.meet();
      copy_bytes(values.data() + done, source.get(), staged_part(values.size(), done));
      meeting.meet();
    }
  }
  return meeting.close(opening);
}

}  // namespace tandem
