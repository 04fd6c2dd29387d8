// SPDX-License-Identifier: Apache-2.0
#include "simulate/engine/simulated_communicator.h"

#include <cmath>
#include <cstdlib>
#include <numeric>

#include "common/comm/immediate_calls.h"
#include "common/comm/shared_memory/allocations.h"
#include "simulate/cost/collective_time.h"
#include "simulate/engine/simulated_platform.h"
#include "simulate/engine/simulated_stream.h"

namespace tandem::simulated {

namespace {

struct PlaceAmongRanks {
  int rank = 0;
  int size = 1;
  bool is_one_of_equals = false;  // a rank beside ranks that do the same, not a device of a team
};

// Cores meet over shared memory, which keeps a stage on each.
std::unique_ptr<Buffer> stage_on(Device& device) {
  const bool has_stage = simulation_of(device).is_of_cores();
  return has_stage ? device.allocate(Bytes{kStageBytes}) : nullptr;
}

class SimulatedCommunicator final : public Communicator {
 public:
  SimulatedCommunicator(Device& device, PlaceAmongRanks place, std::shared_ptr<Meeting> meeting,
                        CollectiveObserver* observer)
      : device_(device),
        place_(place),
        links_(collective_links(simulation_of(device).hardware())),
        meeting_(std::move(meeting)),
        stage_(stage_on(device)),
        calls_(observer) {}

  [[nodiscard]] int rank() const override { return place_.rank; }
  [[nodiscard]] int size() const override { return place_.size; }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    return device_.allocate(size);
  }

  void enqueue(Stream& stream, const CollectiveRequest& request) override {
    if (place_.is_one_of_equals) simulation_of(device_).keep_pace_with(place_.size);
    take_part(simulated_stream(stream), request);
    calls_.note(request);
  }

  void barrier() override {}
  // Every rank says the same.
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    return std::vector<std::string>(static_cast<std::size_t>(place_.size), mine);
  }
  void abort() noexcept override {}

 private:
  // Cores move the data themselves. GPUs take the measured time.
  void take_part(SimulatedStream& stream, const CollectiveRequest& request) {
    Simulation& simulation = stream.simulation();
    const std::uint64_t sequence = ++enqueued_;
    const Nanoseconds described = collective_time(links_, request, place_.size);
    const auto measured =
        simulation.costs().cost_of_collective(request.name(), request.size(), place_.size);
    if (measured && simulation.is_of_cores()) {
      stream.take_part(meeting_->at(sequence, Nanoseconds{0}), measured->time);
    } else if (measured) {
      stream.take_part(meeting_->at(sequence, scaled(*measured, described, request)),
                       place_.size == measured->ranks ? TimeOf::kMeasuredCollective
                                                      : TimeOf::kDescribedCollective);
    } else {
      stream.take_part(meeting_->at(sequence, described), TimeOf::kDescribedCollective);
    }
  }

  // The time among other numbers of ranks: as the links' model has it, by how far the model is from
  // the time that was measured.
  [[nodiscard]] Nanoseconds scaled(const CollectiveCost& measured, Nanoseconds described,
                                   const CollectiveRequest& request) const {
    if (place_.size == measured.ranks) return measured.time;
    const Seconds model = collective_time(links_, request, measured.ranks);
    if (model == Seconds{0}) return measured.time;
    const double share = Seconds(measured.time) / model;
    return Nanoseconds{std::llround(static_cast<double>(described.count()) * share)};
  }

  Device& device_;
  const PlaceAmongRanks place_;
  const CollectiveLinks links_;
  const std::shared_ptr<Meeting> meeting_;  // shared by the ranks' communicators
  const std::unique_ptr<Buffer> stage_;     // absent of GPUs
  std::uint64_t enqueued_ = 0;
  ImmediateCalls calls_;
};

std::vector<std::unique_ptr<Communicator>> communicators_of(
    const std::vector<Device*>& devices, const std::vector<int>& ranks, PlaceAmongRanks place,
    const std::function<CommunicatorOptions(const Device&)>& options_of) {
  const auto meeting = std::make_shared<Meeting>(simulation_of(*devices.front()).schedule(),
                                                 static_cast<int>(devices.size()));
  std::vector<std::unique_ptr<Communicator>> all;
  for (Device* const device : devices) {
    CollectiveObserver* const observer = options_of ? options_of(*device).observer : nullptr;
    place.rank = ranks.at(all.size());
    all.push_back(std::make_unique<SimulatedCommunicator>(*device, place, meeting, observer));
  }
  return all;
}

}  // namespace

std::vector<std::unique_ptr<Communicator>> make_team_communicators(
    const std::vector<Device*>& devices,
    const std::function<CommunicatorOptions(const Device&)>& options_of) {
  std::vector<int> ranks(devices.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  const auto size = static_cast<int>(devices.size());
  return communicators_of(devices, ranks, {.size = size}, options_of);
}

std::vector<std::unique_ptr<Communicator>> make_class_communicators(
    const std::vector<Device*>& devices, const std::vector<int>& ranks, int size,
    const std::function<CommunicatorOptions(const Device&)>& options_of) {
  return communicators_of(devices, ranks, {.size = size, .is_one_of_equals = true}, options_of);
}

std::unique_ptr<Communicator> make_thread_communicator(Bootstrap& ranks, Device& device,
                                                       const CommunicatorOptions& options) {
  const PlaceAmongRanks place{ranks.rank(), ranks.size(), true};
  return std::make_unique<SimulatedCommunicator>(
      device, place, simulation_of(device).next_meeting(device.id(), place.size), options.observer);
}

std::unique_ptr<Communicator> make_folded_communicator(int ranks, Device& device,
                                                       const CommunicatorOptions& options) {
  const auto meeting = std::make_shared<Meeting>(simulation_of(device).schedule(), 1);
  return std::make_unique<SimulatedCommunicator>(device, PlaceAmongRanks{0, ranks, true}, meeting,
                                                 options.observer);
}

namespace {

// One of ranks that all say the same.
class LikeMindedRank final : public Bootstrap {
 public:
  enum class Kind { kProcess, kThread };

  LikeMindedRank(int rank, int ranks, Kind kind)
      : rank_(rank), ranks_(all_job_ranks(ranks)), kind_(kind) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    return std::vector<std::string>(ranks_.size(), mine);
  }

  [[nodiscard]] const std::vector<int>& job_ranks() const override { return ranks_; }
  [[nodiscard]] bool shares_address_space() const override { return kind_ == Kind::kThread; }
  // All ranks give the same colour.
  [[nodiscard]] std::unique_ptr<Bootstrap> split(int /*colour*/) override {
    return std::make_unique<LikeMindedRank>(rank_, size(), kind_);
  }
  void abort(int exit_code) override { std::_Exit(exit_code); }

 private:
  const int rank_;
  const std::vector<int> ranks_;
  const Kind kind_;
};

class RanksInTurn final : public RankGroup {
 public:
  explicit RanksInTurn(int size) : size_(size) {}

  [[nodiscard]] std::unique_ptr<Bootstrap> join(int rank) override {
    return std::make_unique<LikeMindedRank>(rank, size_, LikeMindedRank::Kind::kThread);
  }
  void abort() override {}  // nobody waits

 private:
  const int size_;
};

}  // namespace

std::unique_ptr<Bootstrap> make_folded_bootstrap(int ranks) {
  return std::make_unique<LikeMindedRank>(0, ranks, LikeMindedRank::Kind::kProcess);
}

std::unique_ptr<RankGroup> make_ranks_in_turn(int size) {
  return std::make_unique<RanksInTurn>(size);
}

}  // namespace tandem::simulated
