// SPDX-License-Identifier: Apache-2.0
//
// The modelled link of a host platform, as its devices and streams use it, and the account of where
// the machine could not keep up with the model. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "common/runtime/link_model.h"
#include "common/runtime/link_ports.h"
#include "common/runtime/platform.h"

namespace tandem::host {

// When a stream's work is over by the model, and how late the machine was in all on the way there.
struct ModelledTime {
  TimePoint at{};
  Nanoseconds lateness{0};
  std::uint32_t step = 0;  // that the lateness is of; of another step, it counts for nothing

  // Of two that must both be over, the later one decides, with its lateness.
  void merge(const ModelledTime& other) {
    if (other.at > at) *this = other;
  }
};

class HostLink {
 public:
  HostLink(const LinkModel& model, std::shared_ptr<LinkPorts> ports)
      : model_(model), ports_(std::move(ports)) {}

  [[nodiscard]] const LinkModel& model() const { return model_; }
  [[nodiscard]] LinkPorts& ports() const { return *ports_; }

  // When work is ready that was enqueued at `enqueued` behind work that ended at `work`. Where it
  // was enqueued later than that, the host decides, with what it has seen of lateness.
  [[nodiscard]] ModelledTime ready(const ModelledTime& work, TimePoint enqueued) const;

  // The host has waited for work that was over at `end`: what it enqueues next is as late. One
  // account for all threads, so with several of them a bound from above.
  void seen_by_host(const ModelledTime& end);

  // The end of a transfer that was physically over just now: never before the modelled end, and
  // what lies after it is late.
  [[nodiscard]] ModelledTime settle(const ModelledTime& modelled);

  // A sleep to `due` is over now.
  void note_overshoot(TimePoint due);

  // Since the last call; starts a new step.
  [[nodiscard]] Lateness take_lateness();

 private:
  [[nodiscard]] Nanoseconds lateness_of(const ModelledTime& time) const;

  const LinkModel model_;
  const std::shared_ptr<LinkPorts> ports_;  // shared with the node's other ranks, or this one's own
  std::atomic<std::uint32_t> step_{0};
  std::atomic<Nanoseconds::rep> largest_lateness_{0};
  std::atomic<Nanoseconds::rep> host_lateness_{0};
  std::atomic<Nanoseconds::rep> largest_overshoot_{0};
};

}  // namespace tandem::host
