// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives/measurement.h"

#include <memory>
#include <optional>
#include <vector>

#include "bench/driver/device_values.h"
#include "bench/driver/ranks_main.h"
#include "common/base/error.h"
#include "common/runtime/event_pair.h"
#include "common/runtime/host/stream_gate.h"
#include "common/runtime/stream.h"
#include "common/stats/comparison.h"
#include "common/stats/summary.h"

namespace tandem::bench {

namespace {

constexpr int kWarmups = 5;

// Elements of the second buffer; 0 where one is enough.
std::int64_t other_count(const CollectiveCase& measured, int ranks) {
  if (measured.form == BufferUse::kInPlace) return 0;
  if (is_in_blocks(measured.collective)) return measured.count / ranks;
  return measured.collective == Collective::kAllReduce ? measured.count : 0;
}

std::unique_ptr<Buffer> allocate(Communicator& communicator, std::int64_t count, DType type) {
  return count == 0 ? nullptr : communicator.allocate(Bytes{count * size_of(type)});
}

// Elements of the memcpy's target; 0 in a world of one rank, which has nothing to compare with.
std::int64_t copy_count(const CollectiveCase& measured, int ranks) {
  return ranks > 1 ? measured.count : 0;
}

// Memory that a case takes on each rank's device, the memcpy's included.
Bytes memory_of(const CollectiveCase& measured, int ranks) {
  const std::int64_t elements =
      measured.count + other_count(measured, ranks) + copy_count(measured, ranks);
  return Bytes{elements * size_of(measured.type)};
}

// One rank's part in a case: the rank's memory and stream, the call, and the check of the result.
class CollectiveRun {
 public:
  // Collective. All arguments outlive the run. Throws out-of-memory on all ranks where any rank has
  // too little memory for the communicator's buffers.
  CollectiveRun(Communicator& communicator, Device& device, Platform& platform,
                const CollectiveCase& measured)
      : communicator_(communicator),
        measured_(measured),
        rank_(communicator.rank()),
        ranks_(communicator.size()),
        block_(measured.count / ranks_),
        pattern_(measured.type, ranks_),
        whole_(allocate(communicator, measured.count, measured.type)),
        other_(allocate(communicator, other_count(measured, ranks_), measured.type)),
        copy_(allocate(communicator, copy_count(measured, ranks_), measured.type)),
        stream_(device.make_stream(StreamPriority::kNormal)),
        timed_(device),
        values_(platform, *stream_) {
    TANDEM_CHECK(!is_in_blocks(measured.collective) || measured.count % ranks_ == 0,
                 "{} elements in blocks of {} ranks", measured.count, ranks_);
    for (int rank = 0; rank < ranks_; ++rank) blocks_.push_back({rank * block_, block_});
    assign_regions();
  }

  // Writes the pattern into inputs, and a value that no result has into results. Blocks.
  void load() {
    // The result is written first: in place, the input lies in the result.
    values_.write(result_.span, result_.first, [](std::int64_t) { return -1.0F; });
    values_.write(input_.span, input_.first,
                  [&](std::int64_t index) { return pattern_.value(rank_, index); });
  }

  // Writes zeros into inputs, which a sum in place leaves unchanged however often the sum runs.
  void load_zeros() {
    values_.write(input_.span, input_.first, [](std::int64_t) { return 0.0F; });
  }

  // Enqueues one call.
  void call() {
    switch (measured_.collective) {
      case Collective::kAllReduce:
        return communicator_.all_reduce(*stream_, input_.span, result_.span, measured_.op);
      case Collective::kBroadcast:
        return communicator_.broadcast(*stream_, result_.span, kRoot);
      case Collective::kReduce:
        return communicator_.reduce(*stream_, result_.span, kRoot);
      case Collective::kScatter:
        return communicator_.scatter(*stream_, input_.span, result_.span, blocks_, kRoot);
      case Collective::kGather:
        return communicator_.gather(*stream_, input_.span, result_.span, blocks_, kRoot);
    }
  }

  // Enqueues all calls of a sample.
  void enqueue() {
    for (int i = 0; i < measured_.calls; ++i) call();
  }

  // Enqueues copies of as many bytes within this rank's memory, as many as a sample has calls.
  void enqueue_memcpy() {
    for (int i = 0; i < measured_.calls; ++i) {
      enqueue_copy_bytes(*stream_, whole(*copy_, measured_.count).bytes(),
                         whole(*whole_, measured_.count).bytes());
    }
  }

  // Enqueues `work` between two timed events.
  template <class Work>
  void enqueue_timed(const Work& work) {
    timed_.around(*stream_, work);
  }
  // The time between these events; synchronise first.
  [[nodiscard]] Nanoseconds timed() const { return timed_.time(); }

  // Where a sample has several calls on a host device, holds up the work enqueued from now on until
  // release(). Returns false elsewhere, where no work is held up.
  [[nodiscard]] bool hold() {
    if (measured_.calls == 1 || stream_->device().backend != Backend::kHost) return false;
    gate_.emplace(*stream_);
    return true;
  }
  void release() { gate_.reset(); }

  // Blocks until all work is done; throws the stream's error.
  void synchronize() { stream_->synchronize(); }

  // Checks every element that the collective had to leave on this rank, after load() and calls that
  // make one result. Blocks.
  [[nodiscard]] WrongElements check() {
    const Expectation expected(measured_, pattern_, rank_, ranks_);
    return values_.compare(result_.span, result_.first,
                           [&](std::int64_t index) { return expected.at(index); });
  }

 private:
  // A part of the larger buffer.
  struct Region {
    AnySpan span{};          // empty where the rank has no part
    std::int64_t first = 0;  // index of its first element
  };

  [[nodiscard]] AnySpan whole(Buffer& buffer, std::int64_t count) const {
    const ByteSpan bytes = buffer.bytes();
    return {bytes.data(), count, measured_.type, bytes.device()};
  }

  void assign_regions() {
    const Region all{whole(*whole_, measured_.count), 0};
    const auto my_block = [&] { return Region{whole(*other_, block_), rank_ * block_}; };
    const Region on_root = rank_ == kRoot ? all : Region{};
    switch (measured_.collective) {
      case Collective::kAllReduce:
        input_ = all;
        result_ = other_ ? Region{whole(*other_, measured_.count), 0} : all;
        break;
      case Collective::kBroadcast:
      case Collective::kReduce:
        input_ = result_ = all;
        break;
      case Collective::kScatter:
        input_ = on_root;
        result_ = my_block();
        break;
      case Collective::kGather:
        input_ = my_block();
        result_ = on_root;
        break;
    }
  }

  Communicator& communicator_;
  const CollectiveCase measured_;
  const int rank_;
  const int ranks_;
  const std::int64_t block_;  // elements per rank, in collectives with blocks
  const Pattern pattern_;
  std::vector<Block> blocks_;
  std::unique_ptr<Buffer> whole_;  // the larger buffer
  std::unique_ptr<Buffer> other_;  // the second buffer, where input and result are apart
  std::unique_ptr<Buffer> copy_;   // the memcpy's target; absent in a world of one
  Region input_;
  Region result_;
  std::unique_ptr<Stream> stream_;
  EventPair timed_;
  std::optional<host::StreamGate>
      gate_;  // destroyed before the stream, which waits for queued work
  DeviceValues values_;
};

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

}  // namespace

CollectiveResult measure_collective(const Rank& rank, const CollectiveCase& measured, int samples) {
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

void report(benchmark::State& state, const CollectiveCase& measured,
            const CollectiveResult& result) {
  if (!result.skipped.empty()) {
    state.SkipWithError(("skipped: " + result.skipped).c_str());
    return;
  }
  replay_samples(state, result.seconds);
  set_rank_times(state, result);
  set_bandwidths(state, measured, result);
  state.counters["errors"] = static_cast<double>(result.wrong_elements);
}

}  // namespace tandem::bench
