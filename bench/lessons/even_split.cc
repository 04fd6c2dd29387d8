// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace even_split {

constexpr int kDevices = 4;

Finding run(Classroom& room) {
  const auto platform = room.devices(kDevices);
  const auto model = make_model("linear");
  Finding finding{.scope = kAlgorithm};
  bool even = true;
  for (const std::int64_t batch : {8, 10, 9, 5}) {
    dp::DataParallel strategy(*platform, *model, plain_sgd(batch));
    static_cast<void>(train(*platform, strategy, 1));
    const auto samples = samples_per_replica(strategy, *model);
    const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
    // The split is as even as whole samples allow: no device is idle, and no two devices differ by
    // more than one sample.
    even = even && samples.size() == kDevices && *most - *least <= 1;
    finding.evidence.push_back(fmt::format("batch {:>2} on {} devices: {}{}", batch, kDevices,
                                           joined(samples),
                                           samples.size() < kDevices ? ", the rest idle" : ""));
  }
  finding.verdict = holds_if(even);
  return finding;
}

}  // namespace even_split

const Lesson kEvenSplit{
    "even-split",
    "Every batch is split as evenly as it can be.",
    even_split::run,
};

}  // namespace tandem::bench
