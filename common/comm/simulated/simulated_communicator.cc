// SPDX-License-Identifier: Apache-2.0
#include "common/comm/simulated/simulated_communicator.h"

#include "common/base/error.h"
#include "common/comm/simulated/collective_time.h"
#include "common/runtime/simulated/simulated_platform.h"
#include "common/runtime/simulated/simulated_stream.h"

namespace tandem::simulated {
namespace {

// The collectives of the ranks that meet, in the order in which every rank calls them.
class MeetingPlace {
 public:
  // `parts`: of each collective, the ranks whose calls are recorded.
  MeetingPlace(Schedule& schedule, int parts) : schedule_(schedule), parts_(parts) {}

  // The collective that is each rank's `sequence`-th, from 1; made by the first rank that comes.
  [[nodiscard]] CollectiveId at(std::uint64_t sequence, Nanoseconds duration) {
    if (sequence > collectives_.size()) {
      collectives_.push_back(schedule_.add_collective({parts_, duration}));
    }
    return collectives_[sequence - 1];
  }

 private:
  Schedule& schedule_;
  const int parts_;
  std::vector<CollectiveId> collectives_;
};

struct PlaceAmongRanks {
  int rank = 0;
  int size = 1;
};

LinkModel link_of(const Simulation& simulation) {
  if (simulation.one_link()) return simulation.one_link()->model;
  return collective_link(simulation.hardware().node);
}

class SimulatedCommunicator final : public Communicator {
 public:
  SimulatedCommunicator(Device& device, PlaceAmongRanks place,
                        std::shared_ptr<MeetingPlace> meeting, CollectiveObserver* observer)
      : device_(device),
        place_(place),
        links_(link_of(simulation_of(device))),
        meeting_(std::move(meeting)),
        observer_(observer) {}

  [[nodiscard]] int rank() const override { return place_.rank; }
  [[nodiscard]] int size() const override { return place_.size; }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    return device_.allocate(size);
  }

  // The observer hears of start and end at the call, as there is no other moment of real time.
  void enqueue(Stream& stream, const CollectiveRequest& request) override {
    const CollectiveCall call{
        .sequence = ++enqueued_, .name = request.name(), .size = request.size()};
    if (observer_ != nullptr) observer_->enqueued(call);
    take_part(simulated_stream(stream), call, request);
    if (observer_ == nullptr) return;
    observer_->started(call);
    observer_->finished(call);
  }

  void barrier() override {}
  // Every rank says the same.
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    return std::vector<std::string>(static_cast<std::size_t>(place_.size), mine);
  }
  void abort() noexcept override {}

 private:
  // Cores move the data themselves, beside a modelled link or without one.
  void take_part(SimulatedStream& stream, const CollectiveCall& call,
                 const CollectiveRequest& request) {
    Simulation& simulation = stream.simulation();
    const Nanoseconds duration = collective_time(links_, request, place_.size);
    const Nanoseconds work =
        simulation.costs().work_of_collective(call.name, call.size, place_.size);
    if (work == Nanoseconds{0}) return stream.take_part(meeting_->at(call.sequence, duration));
    const Nanoseconds transfer = simulation.one_link() ? duration : Nanoseconds{0};
    stream.take_part(meeting_->at(call.sequence, Nanoseconds{0}),
                     SimulatedStream::CoreCollective{transfer, work});
  }

  Device& device_;
  const PlaceAmongRanks place_;
  const LinkModel links_;
  const std::shared_ptr<MeetingPlace> meeting_;  // shared by the ranks' communicators
  CollectiveObserver* const observer_;           // may be absent
  std::uint64_t enqueued_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<Communicator>> make_team_communicators(
    const std::vector<Device*>& devices,
    const std::function<CommunicatorOptions(const Device&)>& options_of) {
  const int ranks = static_cast<int>(devices.size());
  const auto meeting =
      std::make_shared<MeetingPlace>(simulation_of(*devices.front()).schedule(), ranks);
  std::vector<std::unique_ptr<Communicator>> all;
  for (Device* const device : devices) {
    CollectiveObserver* const observer = options_of ? options_of(*device).observer : nullptr;
    const PlaceAmongRanks place{static_cast<int>(all.size()), ranks};
    all.push_back(std::make_unique<SimulatedCommunicator>(*device, place, meeting, observer));
  }
  return all;
}

std::unique_ptr<Communicator> make_folded_communicator(int ranks, Device& device,
                                                       const CommunicatorOptions& options) {
  const auto meeting = std::make_shared<MeetingPlace>(simulation_of(device).schedule(), 1);
  return std::make_unique<SimulatedCommunicator>(device, PlaceAmongRanks{0, ranks}, meeting,
                                                 options.observer);
}

}  // namespace tandem::simulated
