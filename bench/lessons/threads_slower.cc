// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/timing.h"
#include "common/model/zoo.h"
#include "common/parallel/independent.h"
#include "common/stats/comparison.h"
#include "ddp/distributed_data_parallel.h"
#include "ddp/dp_all_reduce.h"

namespace tandem::bench {
namespace threads_slower {

constexpr int kRounds = 60;
constexpr std::int64_t kBatch = 128;
constexpr double kBar = 1.05;  // step time that counts as slower: 5 % or more

struct Ratios {
  stats::Estimate independent;  // threads' step time over processes'
  stats::Estimate all_reduce;   // dp-allreduce's over ddp's
};

// Runs the same work as threads of rank 0 and as a process per device, taking turns in one job.
Ratios measure(Classroom& room, Place& place) {
  Communicator& ranks = *place.communicator;
  const auto model = make_model("mlp-small");
  const TrainingOptions options = timed_training(kBatch);
  const auto threads = room.devices(ranks.size());
  std::unique_ptr<IndependentThreads> apart;
  std::unique_ptr<ddp::DpAllReduce> together;
  if (room.is_first()) {
    apart = std::make_unique<IndependentThreads>(*threads, *model, options);
    together = std::make_unique<ddp::DpAllReduce>(*threads, *model, options);
  }
  Single share(*place.platform, *place.device, *model,
               share_of_batch(kBatch, ranks.rank(), ranks.size()), options);
  ddp::DistributedDataParallel ddp(*place.platform, *place.device, *model, ranks, options, {});
  const auto seconds =
      interleave({step_of_first_rank(ranks, apart.get()), step_of_all_ranks(ranks, share),
                  step_of_first_rank(ranks, together.get()), step_of_all_ranks(ranks, ddp)},
                 kRounds);
  return {stats::median_of_paired_ratios(seconds[1], seconds[0]),
          stats::median_of_paired_ratios(seconds[3], seconds[2])};
}

// The claim says that threads are slower in both; where the verdicts differ the answer depends on
// what runs.
Verdict judge(Verdict independent, Verdict all_reduce) {
  if (independent == all_reduce) return independent;
  const bool refuted = independent == Verdict::kDoesNotHold || all_reduce == Verdict::kDoesNotHold;
  return refuted ? Verdict::kDoesNotHold : Verdict::kNotDecidable;
}

Finding run(Classroom& room) {
  return room.together([&](Place& place) -> Finding {
    const Ratios ratios = measure(room, place);
    const Verdict independent = above(ratios.independent, kBar);
    const Verdict all_reduce = above(ratios.all_reduce, kBar);
    return {judge(independent, all_reduce),
            {fmt::format("mlp-small, batch {}, 2 devices, no interpreter; slower: above {}", kBatch,
                         kBar),
             fmt::format("independent: a step of threads takes {} times as long as of processes{}",
                         text_of(ratios.independent), unresolved_note(independent, kBar)),
             fmt::format("all-reduce: dp-allreduce takes {} times as long as ddp{}",
                         text_of(ratios.all_reduce), unresolved_note(all_reduce, kBar))},
            kHostOnly};
  });
}

}  // namespace threads_slower

const Lesson kThreadsSlower{
    "threads-slower",
    "Threads as such are slower than processes, also without an interpreter lock.",
    threads_slower::run,
    Ranks::kTwo,
    2,
};

}  // namespace tandem::bench
