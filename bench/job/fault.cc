// SPDX-License-Identifier: Apache-2.0
#include "bench/job/fault.h"

#include <fmt/format.h>

#include <csignal>
#include <string_view>

#include "bench/driver/flag_values.h"
#include "common/base/error.h"
#include "common/base/units.h"
#include "common/runtime/host/parking.h"

namespace tandem::bench {
namespace {

constexpr std::array kFaults{Choice<FaultKind>{"killed", FaultKind::kKilled},
                             Choice<FaultKind>{"stopped", FaultKind::kStopped},
                             Choice<FaultKind>{"throws", FaultKind::kThrows},
                             Choice<FaultKind>{"memory", FaultKind::kMemory},
                             Choice<FaultKind>{"diverges", FaultKind::kDiverges},
                             Choice<FaultKind>{"late", FaultKind::kLate}};

std::int64_t fault_number(const std::string& fault, std::string_view text) {
  const auto number = parse_number<std::int64_t>(text);
  if (number && *number >= 0) return *number;
  fail(ErrorKind::kUsage, "--fault={}: '{}' is no number; give a fault such as killed:1@7", fault,
       text);
}

}  // namespace

Fault parse_fault(const std::string& text, int ranks) {
  std::string_view rest = text;
  Fault fault{.rank = ranks - 1};
  if (const std::size_t at = rest.find('@'); at != std::string_view::npos) {
    fault.step = fault_number(text, rest.substr(at + 1));
    rest = rest.substr(0, at);
  }
  if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
    const std::int64_t rank = fault_number(text, rest.substr(colon + 1));
    if (rank >= ranks) {
      fail(ErrorKind::kUsage, "--fault={}: there is no rank {}: use 0 to {}", text, rank,
           ranks - 1);
    }
    fault.rank = static_cast<int>(rank);
    rest = rest.substr(0, colon);
  }
  fault.kind = choose("--fault", std::string(rest), kFaults);
  if (fault.step < 1) fail(ErrorKind::kUsage, "--fault={}: steps count from 1", text);
  return fault;
}

void PlantedFault::meet(int rank, Communicator& communicator) {
  if (rank == fault_.rank) communicator_ = &communicator;
}

void PlantedFault::come_late(Nanoseconds deadline) const {
  if (fault_.kind != FaultKind::kLate || rank_ != fault_.rank) return;
  host::sleep_until(Clock::now() + 10 * deadline);
}

void PlantedFault::check_met() const {
  const bool mine = !rank_ || *rank_ == fault_.rank;
  if (!mine || met_ || fault_.kind == FaultKind::kLate) return;
  fail(ErrorKind::kFailure,
       "--fault: rank {} ended after step {}, before its fault in step {}: plant it earlier",
       fault_.rank, steps_, fault_.step);
}

bool PlantedFault::is_due(const Device& device) const {
  return rank_.value_or(device.id().index) == fault_.rank && steps_ + 1 == fault_.step && !met_;
}

void PlantedFault::phase_begins(Device& device, Stream& stream, Phase phase) {
  const Phase due = fault_.kind == FaultKind::kDiverges ? Phase::kForward : Phase::kBackward;
  if (phase != due || !is_due(device)) return;
  met_ = fault_.kind != FaultKind::kLate;
  switch (fault_.kind) {
    case FaultKind::kKilled:
    case FaultKind::kStopped:
      stream.synchronize();  // the device may still be before the step of the fault
      static_cast<void>(::raise(fault_.kind == FaultKind::kKilled ? SIGKILL : SIGSTOP));
      return;
    case FaultKind::kThrows:
      fail(ErrorKind::kFailure, "rank {}: thrown on purpose (--fault)", fault_.rank);
    case FaultKind::kMemory:
      ask_for_too_much(device);
    case FaultKind::kDiverges:
      return diverge(device, stream);
    case FaultKind::kLate:
      return;  // met elsewhere
  }
}

void PlantedFault::step_ends(Device& device, Stream&) {
  if (rank_.value_or(device.id().index) == fault_.rank) ++steps_;
}

void PlantedFault::ask_for_too_much(Device& device) const {
  const MemoryUse use = device.memory();
  const auto more = device.allocate(Bytes{use.capacity.value - use.used.value + 1});
  fail(ErrorKind::kLogic, "a device gave more memory than it has");
}

void PlantedFault::diverge(Device& device, Stream& stream) {
  own_ = device.allocate(bytes_of<float>(1));
  communicator_.load()->all_reduce(stream, own_->as<float>(), ReduceOp::kSum);
}

}  // namespace tandem::bench
