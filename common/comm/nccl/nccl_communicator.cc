// SPDX-License-Identifier: Apache-2.0
#include "common/comm/nccl/nccl_communicator.h"

#include <algorithm>
#include <boost/noncopyable.hpp>
#include <cstring>
#include <utility>

#include "common/base/error.h"
#include "common/comm/bootstrap.h"
#include "common/comm/collective_errors.h"
#include "common/comm/communicator.h"
#include "common/comm/nccl/nccl_api.h"
#include "common/comm/rank_exit.h"
#include "common/runtime/cuda/check.h"
#include "common/runtime/host/parking.h"

namespace tandem::nccl {

namespace {

// Between looks at what is in flight; a late peer is noticed at most that part of the deadline
// later.
constexpr Nanoseconds kLook = std::chrono::milliseconds(5);
constexpr int kLooksPerDeadline = 8;
constexpr Nanoseconds kQuietLook = std::chrono::microseconds(50);

// How long a rank that failed lets the others come out of NCCL by themselves.
constexpr Nanoseconds kPatience = std::chrono::seconds(5);

constexpr int kAnyColour = 0;

// Rank 0 makes it; where it cannot, all ranks say why.
ncclUniqueId agreed_id(const Api& api, Bootstrap& bootstrap) {
  ncclUniqueId id{};
  attempt_together(bootstrap, [&] {
    if (bootstrap.rank() == 0) check(api, api.get_unique_id(&id), "ncclGetUniqueId");
  });
  const std::string bytes = tandem::broadcast(bootstrap, std::string(id.internal, sizeof(id)), 0);
  TANDEM_CHECK(bytes.size() == sizeof(id), "{} bytes for an id of NCCL's", bytes.size());
  std::memcpy(id.internal, bytes.data(), sizeof(id));
  return id;
}

// True for as long as this lives, where it is to be.
class ScopedFlag : boost::noncopyable {
 public:
  ScopedFlag(std::atomic<bool>& flag, bool value) : flag_(flag) { flag_ = value; }
  ~ScopedFlag() { flag_ = false; }

 private:
  std::atomic<bool>& flag_;
};

}  // namespace

NcclCommunicator::NcclCommunicator(const Api& api, Scale scale, Bootstrap& bootstrap,
                                   Device& device, const CommunicatorOptions& options)
    : api_(api),
      scale_(scale),
      device_(cuda::cuda_device(device)),
      options_(options),
      host_(bootstrap.split(kAnyColour)),
      order_(options.check_order == OrderCheck::kAlways ? bootstrap.split(kAnyColour) : nullptr),
      peers_(*host_),
      in_flight_(device_.gpu(), options.observer),
      memory_(std::make_shared<Memory>()) {
  const ncclUniqueId id = agreed_id(api_, *host_);
  // Ranks that wait inside NCCL for one which fails here cannot be reached: its error ends them.
  std::optional<ExitGuard> last_words;
  attempt_together(*host_, [&] {
    const auto error = capture_error([&] {
      handle_ = std::make_unique<Handle>(api_,
                                         Handle::Rank{.rank = host_->rank(),
                                                      .size = host_->size(),
                                                      .job_rank = job_rank(),
                                                      .gpu = device_.gpu().ordinal(),
                                                      .deadline = options_.deadline,
                                                      .rank_exit = options_.rank_exit},
                                         id);
    });
    if (!error) return;
    last_words.emplace(*error, kPatience, options_.rank_exit, error->exit_code());
    throw Error(*error);
  });
  watcher_ = std::thread([this] { watch(); });
}

NcclCommunicator::~NcclCommunicator() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  watcher_.join();
  // A failure now is one of a rank that is done: its end is an abort.
  if (const auto error = capture_error([this] { end(); })) handle_->abort(*error);
  memory_->close();
}

// In good order, where there is still somebody to end it with.
void NcclCommunicator::end() {
  if (peers_.is_raised() || device_.gpu().failed()) throw told_to_end();
  wait_until_quiet();
  memory_->free_retired();
  handle_->close();
}

int NcclCommunicator::job_rank() const { return own_job_rank(*host_); }

Error NcclCommunicator::told_to_end() const { return aborted_by_others(job_rank()); }

// ---- memory ----

void NcclCommunicator::wait_until_quiet() {
  const TimePoint give_up_at = Clock::now() + options_.deadline;
  while (!in_flight_.is_empty()) {
    device_.gpu().throw_if_failed();
    const auto running = in_flight_.look(Clock::now());
    if (running && Clock::now() >= give_up_at) {
      throw timeout_error(job_rank(), options_.deadline, running->call);
    }
    host::sleep_until(Clock::now() + kQuietLook);
  }
}

// The exchanges are the fences: behind the first no rank has a collective in flight, and none
// enqueues another before it is through the last.
std::unique_ptr<Buffer> NcclCommunicator::allocate(Bytes size) {
  attempt_together(*host_, [this] { wait_until_quiet(); });
  std::unique_ptr<Buffer> buffer;  // where it is not had on all, it is retired
  attempt_together(*host_, [&] {
    memory_->free_retired();
    buffer = memory_->keep(device_.allocate(size));
  });
  barrier();
  return buffer;
}

// ---- collectives ----

CollectiveCall NcclCommunicator::next(const char* name, Bytes size) {
  ++enqueued_;
  return {.sequence = enqueued_, .name = name, .size = size};
}

void NcclCommunicator::check_order(const std::string& note) {
  const std::vector<std::string> all = order_->all_gather(note);
  for (std::size_t peer = 0; peer < all.size(); ++peer) {
    if (all[peer] == note) continue;
    throw diverged(job_rank(), host_->job_ranks()[peer]);
  }
}

void NcclCommunicator::enqueue(Stream& stream, const CollectiveRequest& request) {
  const Collective collective = collective_of(stream, request);
  check_placement(request.name(), device_.id(), request.accesses(rank()));
  TANDEM_CHECK(stream.device() == device_.id(), "{} of {} on a stream of {}", request.name(),
               to_string(device_.id()), to_string(stream.device()));
  cuda::CudaStream& on = cuda::cuda_stream(stream);
  const CollectiveCall call = next(request.name(), request.size());
  if (options_.observer != nullptr) options_.observer->enqueued(call);
  // Dropped with all that is enqueued on a failed stream; those who would wait for it are informed.
  if (device_.gpu().failed()) return peers_.raise();
  const ScopedFlag comparing(comparing_, order_ != nullptr);
  fail_enqueued(call, capture_error([&] { launch(on, call, request, collective); }));
}

void NcclCommunicator::fail_enqueued(const CollectiveCall& call,
                                     const std::optional<Error>& error) {
  if (!error) return;
  if (error->kind() == ErrorKind::kLogic) throw Error(*error);
  if (!inside_group_) return give_up(in_call(call, *error));
  // NCCL cannot abort within an open group.
  grouped_.emplace_back(call, [reason = *error] { throw Error(reason); });
}

void NcclCommunicator::launch(cuda::CudaStream& stream, const CollectiveCall& call,
                              const CollectiveRequest& request, const Collective& collective) {
  if (order_) check_order(std::to_string(note_of(request).value()));
  const InFlight::Ticket ticket = in_flight_.begin(stream, call);
  const auto calls = [&](ncclComm_t comm) { collective.calls(comm, stream.get()); };
  const auto error =
      capture_error([&] { inside_group_ ? handle_->make(calls) : handle_->run(call, calls); });
  if (error) {
    in_flight_.drop(ticket);
    throw Error(*error);
  }
  if (inside_group_) {
    grouped_.emplace_back(call, [=, this, &stream] { finish(ticket, stream, collective); });
    return;
  }
  finish(ticket, stream, collective);
}

void NcclCommunicator::finish(InFlight::Ticket ticket, cuda::CudaStream& stream,
                              const Collective& collective) {
  if (collective.after) collective.after(stream);
  in_flight_.end(ticket, stream);
}

void NcclCommunicator::enter_group() {
  inside_group_.emplace(*handle_, CollectiveCall{.name = "a group of calls", .size = Bytes{0}});
}

void NcclCommunicator::let_others_in() { inside_group_.reset(); }

void NcclCommunicator::leave_group(ncclResult_t result) {
  for (const auto& [call, finish_call] : std::exchange(grouped_, {})) {
    const auto error = capture_error([&, &finish_one = finish_call] {
      check(api_, result, "ncclGroupEnd");
      finish_one();
    });
    if (error) return give_up(in_call(call, *error));
  }
}

// ---- trouble ----

std::optional<Error> NcclCommunicator::trouble() {
  const auto running = in_flight_.look(Clock::now());
  if (peers_.is_raised()) return told_to_end();
  if (auto failed = capture_error([this] { device_.gpu().throw_if_failed(); })) return failed;
  if (running && running->since >= options_.deadline) {
    return timeout_error(job_rank(), running->since, running->call);
  }
  return capture_error([this] { check(api_, handle_->state(), "ncclCommGetAsyncError"); });
}

void NcclCommunicator::watch() {
  const Nanoseconds look = std::min(kLook, options_.deadline / kLooksPerDeadline);
  std::unique_lock lock(mutex_);
  while (!closed_) {
    changed_.wait_until(lock, Clock::now() + look);
    lock.unlock();
    // Ranks that compare find out by themselves why the others give up.
    const auto reason = comparing_ ? std::nullopt : trouble();
    if (reason) return give_up(*reason);
    lock.lock();
  }
}

void NcclCommunicator::give_up(const Error& reason) noexcept {
  device_.gpu().give_up(reason);
  peers_.raise();
  handle_->abort(reason);
  in_flight_.forget();
  if (!host_->shares_address_space()) return;
  // Threads of this process may wait for this one in an exchange, where processes have a deadline,
  // or inside NCCL, which they leave with the process alone.
  host_->abort(1);
  if (reason.peer_failure().kind != PeerFailure::Kind::kAborted) handle_->expire(kPatience, reason);
}

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
  const std::lock_guard lock(mutex_);
  Flight flight{.ticket = ++tickets_, .call = call, .start = take_event(), .end = take_event()};
  record(*flight.start, stream);
  flights_.push_back(std::move(flight));
  return tickets_;
}

void InFlight::end(Ticket ticket, cuda::CudaStream& stream) {
  const std::lock_guard lock(mutex_);
  const auto flight = std::ranges::find(flights_, ticket, &Flight::ticket);
  if (flight == flights_.end()) return;  // forgotten
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

void call_together(const Api& api, const std::vector<Communicator*>& ranks,
                   const std::function<void()>& calls) {
  std::vector<NcclCommunicator*> members;
  for (Communicator* const rank : ranks) members.push_back(&dynamic_cast<NcclCommunicator&>(*rank));
  Group group(api);
  for (NcclCommunicator* const member : members) member->enter_group();
  const auto error = capture_error(calls);
  const ncclResult_t result = group.end();
  for (NcclCommunicator* const member : members) member->let_others_in();
  for (NcclCommunicator* const member : members) member->leave_group(result);
  if (error) throw Error(*error);
}

}  // namespace tandem::nccl
