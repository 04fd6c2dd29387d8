// SPDX-License-Identifier: Apache-2.0
//
// Steps by closed forms, from the step of one device: what a projection by simulation has to beat.
#pragma once

#include <vector>

#include "reports/model/hold_out.h"

namespace tandem::reports {

// A link on which S bytes take `latency_seconds` + S / `bytes_per_second`, in each direction.
struct LinkFigures {
  double latency_seconds = 0;
  double bytes_per_second = 0;  // 0: not known
};

// What closed forms know of a cell.
struct KnownOfCell {
  double one_device_seconds = 0;  // a step of `single` on one device's share of the batch
  double parameter_bytes = 0;
  double calls = 0;  // the strategy's calls per step, all devices together; 0: not known
  LinkFigures link{};
};

// All devices as fast as one.
[[nodiscard]] double perfect_scaling(const KnownOfCell& known);

// The step of one device, and then all transfers, none hidden behind computation: where every rank
// has its weights, a ring's all-reduce of the gradients, 2 (n - 1) (a + S / (n B)) (Patarasuk and
// Yuan, Journal of Parallel and Distributed Computing 69, 2009); where one device hands them out,
// weights and gradients of n - 1 devices through its port, 2 (n - 1) (a + S / B). `independent`
// transfers nothing. 0 where the link is not known.
[[nodiscard]] double without_overlap(const results::Cell& cell, const KnownOfCell& known);

// Fills in perfect scaling, no overlap, and one cost per call: the step of one device and the calls
// times a cost that is fitted, by least squares, to the other cells of the strategy; none where
// there is no other such cell. `known` has an entry per row.
void add_closed_forms(std::vector<HeldOut>& rows, const std::vector<KnownOfCell>& known);

}  // namespace tandem::reports
