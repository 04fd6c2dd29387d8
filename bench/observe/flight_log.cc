// SPDX-License-Identifier: Apache-2.0
#include "bench/observe/flight_log.h"

#include <array>
#include <string_view>

#include "bench/driver/ranks_main.h"
#include "bench/job/simulated_job.h"
#include "common/comm/thread_bootstrap.h"
#include "common/flight/flight_recorder.h"
#include "common/runtime/host/host_stream.h"
#include "simulate/engine/simulated_ranks.h"

namespace tandem::bench {

namespace {

constexpr std::array<std::string_view, 6> kStageNames{"start", "join",  "meet",
                                                      "open",  "build", "report"};

std::size_t index_of(Phase phase) { return static_cast<std::size_t>(phase); }
std::size_t index_of(Stage stage) { return kPhaseCount + static_cast<std::size_t>(stage); }

std::vector<std::string> place_names() {
  std::vector<std::string> names(kPhaseNames.begin(), kPhaseNames.end());
  names.insert(names.end(), kStageNames.begin(), kStageNames.end());
  return names;
}

}  // namespace

class FlightLog::PerDevice final : public CollectiveObserver {
 public:
  PerDevice(const std::filesystem::path& file, int rank, int world)
      : recorder_(file, {.rank = rank, .world = world, .phases = place_names()}) {}

  [[nodiscard]] FlightRecorder& recorder() { return recorder_; }

  void enter(Stage stage) {
    recorder_.enqueued(steps_, index_of(stage));
    recorder_.reached(steps_, index_of(stage));
  }

  void begin(Stream& stream, Phase phase) { note(stream, steps_ + 1, phase); }
  void end_step(Stream& stream) { note(stream, ++steps_, Phase::kIdle); }

  void enqueued(const CollectiveCall& call) noexcept override {
    recorder_.collective_enqueued(call.sequence, call.name, call.size.value);
  }
  void started(const CollectiveCall& call) noexcept override {
    recorder_.collective_started(call.sequence, call.name, call.size.value);
  }
  void finished(const CollectiveCall& call) noexcept override {
    recorder_.collective_finished(call.sequence);
  }

 private:
  // Phases are noted by a task without duration.
  void note(Stream& stream, std::int64_t step, Phase phase) {
    recorder_.enqueued(step, index_of(phase));
    if (stream.device().backend != Backend::kHost) return recorder_.reached(0, 0);
    host::host_stream(stream).enqueue_due([this, step, phase](TimePoint ready) {
      recorder_.reached(step, index_of(phase));
      return ready;
    });
  }

  FlightRecorder recorder_;
  std::int64_t steps_ = 0;  // steps that the rank's thread has enqueued
};

FlightLog::FlightLog(const std::filesystem::path& folder, const Ranks& ranks) {
  if (folder.empty()) return;
  const auto error = capture_error([&] {
    for (int i = 0; i < ranks.count; ++i) {
      const int rank = ranks.first + i;
      devices_.push_back(std::make_unique<PerDevice>(flight_file(folder, rank), rank, ranks.world));
    }
  });
  if (error) fail(ErrorKind::kUsage, "--flight-dir: {}", error->what());
  enter(Stage::kStart);
}

FlightLog::~FlightLog() = default;

FlightLog::PerDevice& FlightLog::of(const Device& device) {
  const auto index = static_cast<std::size_t>(device.id().index);
  return *(devices_.size() == 1 ? devices_.front() : devices_.at(index));
}

void FlightLog::enter(Stage stage) noexcept {
  for (const auto& device : devices_) device->enter(stage);
}

void FlightLog::failed(const Error& error) noexcept {
  for (const auto& device : devices_) device->recorder().failed(error);
}

RankExit FlightLog::rank_exit(Nanoseconds grace) {
  const auto end = [this] {
    for (const auto& device : devices_) device->recorder().ends_job();
  };
  return {.grace = grace, .on_error = [this](const Error& error) { failed(error); }, .on_end = end};
}

void FlightLog::ended() noexcept {
  for (const auto& device : devices_) device->recorder().ended();
}

CollectiveObserver* FlightLog::collectives_of(int index) {
  return devices_.empty() ? nullptr : devices_.at(static_cast<std::size_t>(index)).get();
}

void FlightLog::phase_begins(Device& device, Stream& stream, Phase phase) {
  of(device).begin(stream, phase);
}

void FlightLog::step_ends(Device& device, Stream& stream) { of(device).end_step(stream); }

namespace {

FlightLog::Ranks ranks_here(const JobOptions& job) {
  if (job.launch == Launch::kThreads) return {.count = job.devices, .world = job.devices};
  if (job.backend != BackendChoice::kSimulated || !job.has_root) {
    return {.first = announced_rank(), .world = announced_ranks()};
  }
  return {.count = static_cast<int>(simulated::classes_with_root(job.devices).size()),
          .world = job.devices};
}

// Runs on the calling thread.
int run_here(FlightLog& flight, Bootstrap& ranks,
             const std::function<int(Bootstrap&, FlightLog&)>& body) {
  int status = 0;
  const auto error = capture_error([&] { status = body(ranks, flight); });
  if (!error) return status;
  flight.failed(*error);
  throw Error(*error);
}

}  // namespace

int run_recorded(const std::string& program, const JobOptions& job, const std::string& folder,
                 int& argc, char**& argv, const std::function<int(Bootstrap&, FlightLog&)>& body) {
  const bool has_threads = job.launch == Launch::kThreads;
  FlightLog flight(folder, ranks_here(job));
  const RanksMain how{.program = program,
                      .deadline = job.communicator.deadline,
                      .rank_exit = flight.rank_exit(job.communicator.rank_exit.grace)};
  const auto run = [&] {
    if (job.backend == BackendChoice::kSimulated) {
      return run_here(flight, *simulated_ranks(job), body);
    }
    if (has_threads) {
      ThreadGroup alone(1);
      return run_here(flight, *alone.join(0), body);
    }
    return run_ranks_main(how, argc, argv, [&](Bootstrap& bootstrap) {
      flight.enter(Stage::kJoin);
      return body(bootstrap, flight);
    });
  };
  const int status = run();
  flight.ended();  // MPI has ended, too
  return status;
}

}  // namespace tandem::bench
