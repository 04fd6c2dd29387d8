// SPDX-License-Identifier: Apache-2.0
#include "reports/model/own_costs.h"

#include <algorithm>

#include "common/stats/estimate.h"
#include "reports/model/measured_ladder.h"
#include "reports/model/phases.h"

namespace tandem::reports {
namespace {

using results::DevicePhases;
using results::LaunchRecord;

using Launches = std::vector<const LaunchRecord*>;
using OfDevice = double (*)(const DevicePhases&);
using OfLaunch = double (*)(const LaunchRecord&);

double compute(const DevicePhases& device) {
  return phase_seconds(device, "forward") + phase_seconds(device, "backward");
}

double exposed(const DevicePhases& device) { return phase_seconds(device, "exposed_comm"); }

// Whether the record has the least of every sample: no rank computes in no time, whereas the least
// exposed_comm may be 0 in such records too.
bool has_least(const LaunchRecord& record) { return record.least_compute_seconds > 0; }

double least_of_means(const LaunchRecord& record, OfDevice value) {
  double found = value(*critical_device(record));
  for (const DevicePhases& device : record.phases) found = std::min(found, value(device));
  return found;
}

double least_compute(const LaunchRecord& record) {
  return has_least(record) ? record.least_compute_seconds : least_of_means(record, compute);
}

// The later of two ranks computes longer and the other rank waits for the late one: either way the
// critical rank's sum of both is longer than among equal ranks.
double skew(const LaunchRecord& record) {
  const DevicePhases& critical = *critical_device(record);
  return compute(critical) + exposed(critical) - least_compute(record) - least_exposed(record);
}

double copies(const LaunchRecord& record) {
  return phase_seconds(*critical_device(record), "bucket_copy");
}

double rest(const LaunchRecord& record) {
  const DevicePhases& critical = *critical_device(record);
  return mean_step(record) - compute(critical) - copies(record) - exposed(critical);
}

std::vector<double> values(const Launches& launches, OfLaunch value) {
  std::vector<double> found;
  for (const LaunchRecord* record : launches) found.push_back(value(*record));
  return found;
}

}  // namespace

double least_exposed(const LaunchRecord& record) {
  return has_least(record) ? record.least_exposed_seconds : least_of_means(record, exposed);
}

std::optional<OwnCosts> own_costs(const Launches& ddp, const Launches& independent) {
  if (!have_phases(ddp) || !have_phases(independent)) return std::nullopt;
  const auto more = [&](OfLaunch value) {
    return stats::difference_of_means(values(ddp, value), values(independent, value));
  };
  // ddp alone has these parts: independent ranks neither communicate nor have buckets.
  const auto own = [&](OfLaunch value) { return stats::center_of_means(values(ddp, value)); };
  return OwnCosts{.exposed_transfer = own(least_exposed),
                  .skew = more(skew),
                  .contention = more(least_compute),
                  .bucket_copies = own(copies),
                  .rest = more(rest)};
}

}  // namespace tandem::reports
