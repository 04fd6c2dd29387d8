// SPDX-License-Identifier: Apache-2.0
#include "common/comm/nccl/in_flight.h"

#include <algorithm>
#include <utility>

#include "common/runtime/cuda/check.h"
#include "common/runtime/cuda/device_guard.h"

namespace tandem::nccl {
namespace {

constexpr InFlight::Ticket kUntracked = 0;

bool is_captured(cuda::CudaStream& stream, int gpu) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  TANDEM_CUDA(gpu, cudaStreamIsCapturing(stream.get(), &status));
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace

std::unique_ptr<cuda::UniqueEvent> InFlight::take_event() {
  if (spare_.empty()) {
    return std::make_unique<cuda::UniqueEvent>(gpu_.ordinal(), cuda::EventTiming::kOff);
  }
  auto event = std::move(spare_.back());
  spare_.pop_back();
  return event;
}

void InFlight::record(const cuda::UniqueEvent& event, cuda::CudaStream& stream) const {
  const cuda::DeviceGuard here(gpu_.ordinal());
  gpu_.after_enqueue(cudaEventRecord(event.get(), stream.get()), "cudaEventRecord");
}

InFlight::Ticket InFlight::begin(cuda::CudaStream& stream, const CollectiveCall& call) {
  if (is_captured(stream, gpu_.ordinal())) return kUntracked;
  const std::lock_guard lock(mutex_);
  Flight flight{.ticket = ++tickets_, .call = call, .start = take_event(), .end = take_event()};
  record(*flight.start, stream);
  flights_.push_back(std::move(flight));
  return tickets_;
}

void InFlight::end(Ticket ticket, cuda::CudaStream& stream) {
  const std::lock_guard lock(mutex_);
  const auto flight = std::ranges::find(flights_, ticket, &Flight::ticket);
  if (flight == flights_.end()) return;  // not tracked, or forgotten
  record(*flight->end, stream);
  flight->is_launched = true;
}

void InFlight::drop(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  std::erase_if(flights_, [ticket](const Flight& flight) { return flight.ticket == ticket; });
}

// On a GPU whose context is lost nothing is waited for.
bool InFlight::is_done(const cuda::UniqueEvent& event) const {
  const cuda::DeviceGuard here(gpu_.ordinal());
  const cudaError_t status = cudaEventQuery(event.get());
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());  // an answer, not an error
  if (cuda::is_sticky(status)) gpu_.after_enqueue(status, "cudaEventQuery");
  return status != cudaErrorNotReady;
}

std::optional<InFlight::Running> InFlight::look(TimePoint now) {
  const std::lock_guard lock(mutex_);
  while (!flights_.empty()) {
    Flight& first = flights_.front();
    if (!first.began) {
      if (!is_done(*first.start)) return std::nullopt;
      first.began = now;
      if (observer_ != nullptr) observer_->started(first.call);
    }
    if (!first.is_launched || !is_done(*first.end)) return Running{first.call, now - *first.began};
    if (observer_ != nullptr) observer_->finished(first.call);
    spare_.push_back(std::move(first.start));
    spare_.push_back(std::move(first.end));
    flights_.pop_front();
  }
  return std::nullopt;
}

bool InFlight::is_empty() const {
  const std::lock_guard lock(mutex_);
  return flights_.empty();
}

void InFlight::forget() {
  const std::lock_guard lock(mutex_);
  flights_.clear();
}

}  // namespace tandem::nccl
