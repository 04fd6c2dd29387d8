// SPDX-License-Identifier: Apache-2.0
//
// Collectives in virtual time. A call is a part of a collective that starts once all its parts have
// begun; how long it then takes follows from the links of the described hardware.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"

namespace tandem::simulated {

// The communicators of one process's devices, by rank; one thread drives them all. `options_of` has
// the options of a device's communicator; absent: the defaults.
[[nodiscard]] std::vector<std::unique_ptr<Communicator>> make_team_communicators(
    const std::vector<Device*>& devices,
    const std::function<CommunicatorOptions(const Device&)>& options_of = {});

// Ranks that all do the same work.
struct RankClass {
  int first = 0;  // the rank that stands for all
  int count = 1;
};

// The same of `size` ranks, of which each device's stands for a class of ranks that all do the same
// work: `ranks` has the number of the first of each class.
[[nodiscard]] std::vector<std::unique_ptr<Communicator>> make_class_communicators(
    const std::vector<Device*>& devices, const std::vector<int>& ranks, int size,
    const std::function<CommunicatorOptions(const Device&)>& options_of = {});

// The communicator of a rank that is a thread of this process, as all of its group are. Ranks make
// as many communicators each, one after another.
[[nodiscard]] std::unique_ptr<Communicator> make_thread_communicator(
    Bootstrap& ranks, Device& device, const CommunicatorOptions& options);

// Rank 0's communicator of `ranks` ranks that all do the same work on hardware of their own: they
// come to each collective at the same time, so that one of them stands for all.
[[nodiscard]] std::unique_ptr<Communicator> make_folded_communicator(
    int ranks, Device& device, const CommunicatorOptions& options);

// Rank 0 of `ranks` ranks that all say the same: the other ranks are not there, and rank 0 hears
// its own text from each. For simulated ranks of equal work.
[[nodiscard]] std::unique_ptr<Bootstrap> make_folded_bootstrap(int ranks);

// Ranks whose threads one real thread runs in turn, each to its end: none can wait for another's
// text, so each hears its own from all, as equal ranks say the same.
[[nodiscard]] std::unique_ptr<RankGroup> make_ranks_in_turn(int size);

}  // namespace tandem::simulated
