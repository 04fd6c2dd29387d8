// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives/measurement.h"

#include "bench/collectives/collective_run.h"
#include "bench/driver/ranks_main.h"
#include "common/base/error.h"
#include "common/stats/comparison.h"
#include "common/stats/summary.h"

namespace tandem::bench {

namespace {

constexpr int kWarmups = 5;

std::string describe(const CollectiveCase& measured, int rank, const WrongElements& findings) {
  if (!findings.first) return "";
  return fmt::format("{} of {} left wrong elements on rank {}: element {} is {}, not {}",
                     name_of(measured.collective, kCollectives), to_string(measured.size()), rank,
                     findings.first->index, findings.first->got, findings.first->expected);
}

CollectiveResult skipped_because(const std::string& reason) {
  CollectiveResult result;
  result.skipped = reason;
  return result;
}

// The check precedes all allocations: shared memory is reserved on allocation, and a size that
// never fits must not first exhaust the machine.
void check_fits(Device& device, Bytes needed) {
  const MemoryUse memory = device.memory();
  const Bytes left = memory.capacity - memory.used;
  if (needed <= left) return;
  fail(ErrorKind::kOutOfMemory, "{} has too little memory: {} needed, {} of {} left",
       to_string(device.id()), to_string(needed), to_string(left), to_string(memory.capacity));
}

class Measuring {
 public:
  Measuring(const Rank& rank, const CollectiveCase& measured, CollectiveRun& run)
      : ranks_(rank.communicator),
        clocks_(rank.clocks),
        is_host_(rank.platform.backend() == Backend::kHost),
        measured_(measured),
        run_(run) {}

  [[nodiscard]] CollectiveResult result(int samples) {
    check_afresh();
    prepare_samples();
    for (int i = 0; found_.wrong.empty() && i < samples; ++i) take_sample(samples);
    if (!found_.wrong.empty()) return found_;
    if (is_repeatable(measured_)) {
      check();
    } else {
      check_afresh();
    }
    return found_;
  }

 private:
  void check_afresh() {
    run_.load();
    run_.call();
    run_.synchronize();
    check();
  }

  // Checks the result; all ranks learn the findings of every rank.
  void check() {
    const WrongElements mine = run_.check();
    const auto all = ranks_.all_gather(static_cast<double>(mine.wrong));
    for (const double wrong : all) found_.wrong_elements += static_cast<std::int64_t>(wrong);
    for (const auto& text : ranks_.all_gather(describe(measured_, ranks_.rank(), mine))) {
      if (found_.wrong.empty()) found_.wrong = text;
    }
  }

  void prepare_samples() {
    if (!found_.wrong.empty()) return;
    if (grows(measured_)) run_.load_zeros();
    for (int i = 0; i < kWarmups; ++i) {
      static_cast<void>(timed_collective());
      if (ranks_.size() > 1) static_cast<void>(timed_copy());
    }
  }

  void take_sample(int samples) {
    const Timed call = timed_collective();
    found_.seconds.push_back(call.seconds);
    if (!is_host_) found_.host_seconds.push_back(call.host_seconds);
    found_.rank_seconds.resize(call.of_rank.size());
    for (std::size_t rank = 0; rank < call.of_rank.size(); ++rank) {
      found_.rank_seconds[rank] += call.of_rank[rank] / samples;
    }
    if (ranks_.size() > 1) found_.copy_seconds.push_back(timed_copy().seconds);
  }

  // The times of one call.
  struct Timed {
    double seconds = 0;
    double host_seconds = 0;
    std::vector<double> of_rank{};
  };

  [[nodiscard]] Timed timed_collective() {
    if (is_host_) return timed_by_host([this] { run_.enqueue(); });
    return timed_by_devices([this] { run_.call(); }, [this] { run_.enqueue(); });
  }

  // Times a copy on all ranks at once, each rank within its own memory.
  [[nodiscard]] Timed timed_copy() {
    const auto copies = [this] { run_.enqueue_memcpy(); };
    return is_host_ ? timed_by_host(copies) : timed_by_devices([] {}, copies);
  }

  [[nodiscard]] Timed per_call(const SampleTimes& times, int calls) const {
    Timed timed{.seconds = times.whole.count() / calls};
    for (const Seconds own : times.of_rank) timed.of_rank.push_back(own.count() / calls);
    return timed;
  }

  // Work behind a gate is queued before the clock starts.
  template <class Enqueue>
  [[nodiscard]] Timed timed_by_host(const Enqueue& enqueue) {
    const bool held = run_.hold();
    if (held) enqueue();
    const auto work = [&] {
      held ? run_.release() : enqueue();
      run_.synchronize();
    };
    return per_call(times_over_ranks(ranks_, work, clocks_), measured_.calls);
  }

  // `meet` is enqueued before the first event, `enqueue` between both.
  template <class Meet, class Enqueue>
  [[nodiscard]] Timed timed_by_devices(const Meet& meet, const Enqueue& enqueue) {
    const auto work = [&] {
      meet();
      run_.enqueue_timed(enqueue);
      run_.synchronize();
    };
    Timed timed = per_call(times_over_ranks(ranks_, work, clocks_), measured_.calls + 1);
    timed.host_seconds = timed.seconds;
    timed.of_rank = ranks_.all_gather(Seconds(run_.timed()).count() / measured_.calls);
    timed.seconds = stats::maximum(timed.of_rank);
    return timed;
  }

  Communicator& ranks_;
  const Clocks clocks_;
  const bool is_host_;
  const CollectiveCase& measured_;
  CollectiveRun& run_;
  CollectiveResult found_;
};

void set_bandwidths(benchmark::State& state, const CollectiveCase& measured,
                    const CollectiveResult& result) {
  const int ranks = static_cast<int>(result.rank_seconds.size());
  const auto found = bandwidth(measured, ranks, stats::median(result.seconds));
  if (!found) return;
  state.counters["algbw_GBps"] = found->algorithm;
  state.counters["busbw_GBps"] = found->bus;
  if (!result.host_seconds.empty()) {
    const auto by_host = bandwidth(measured, ranks, stats::median(result.host_seconds));
    state.counters["host_busbw_GBps"] = by_host->bus;
  }
  state.counters["memcpy_GBps"] =
      static_cast<double>(measured.size().value) / stats::median(result.copy_seconds) * 1e-9;
  // The speed of the collective over that of a memcpy of as many bytes.
  state.counters["speed_to_memcpy"] =
      stats::median_of_paired_ratios(result.seconds, result.copy_seconds).center;
}

void set_rank_times(benchmark::State& state, const CollectiveResult& result) {
  state.counters["rank_min_us"] = stats::minimum(result.rank_seconds) * 1e6;
  state.counters["rank_avg_us"] = stats::mean(result.rank_seconds) * 1e6;
  if (!result.host_seconds.empty()) {
    state.counters["host_p50_us"] = stats::median(result.host_seconds) * 1e6;
  }
  state.counters["rank_max_us"] = stats::maximum(result.rank_seconds) * 1e6;
}

// Whether the cores' distance decides the result, so that the distance belongs beside the figure.
bool depends_on_distance(const CollectiveCase& measured) {
  return measured.size() >= mib(1) && measured.size() <= mib(4);
}

}  // namespace

CollectiveResult measure_collective(const Rank& rank, const CollectiveCase& measured, int samples) {
  if (measured.collective == Collective::kSendRecv && rank.communicator.size() == 1) {
    return skipped_because("a rank alone has nobody to send to");
  }
  std::optional<CollectiveRun> run;
  try {
    // Memory may run out on one rank alone.
    attempt_together(rank.bootstrap, [&] {
      check_fits(rank.device, memory_of(measured, rank.communicator.size()));
    });
    attempt_together(rank.bootstrap,
                     [&] { run.emplace(rank.communicator, rank.device, rank.platform, measured); });
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kOutOfMemory) throw;
    return skipped_because(error.what());
  }
  // An error ends the communicator while the run lives, since the run carries out queued work as it
  // is destroyed.
  return aborting_on_error(
      rank.rank_exit, [&] { rank.communicator.abort(); },
      [&] { return Measuring(rank, measured, *run).result(samples); });
}

std::optional<Bandwidth> bandwidth(const CollectiveCase& measured, int ranks, double seconds) {
  if (ranks < 2) return std::nullopt;
  const double algorithm = static_cast<double>(measured.size().value) / seconds * 1e-9;
  return Bandwidth{.algorithm = algorithm,
                   .bus = algorithm * bus_factor(measured.collective, ranks)};
}

void report(benchmark::State& state, const CollectiveCase& measured, const CollectiveResult& result,
            double ping_pong_ns) {
  if (!result.skipped.empty()) {
    state.SkipWithError(("skipped: " + result.skipped).c_str());
    return;
  }
  replay_samples(state, result.seconds);
  set_rank_times(state, result);
  set_bandwidths(state, measured, result);
  state.counters["errors"] = static_cast<double>(result.wrong_elements);
  if (measured.buckets > 0) state.counters["buckets"] = measured.buckets;
  if (ping_pong_ns > 0 && depends_on_distance(measured)) {
    state.counters["ping_pong_ns"] = ping_pong_ns;
  }
}

}  // namespace tandem::bench
