// SPDX-License-Identifier: Apache-2.0
#include "common/comm/nccl/nccl_communicator.h"

#include <algorithm>
#include <cstring>

#include "common/base/error.h"
#include "common/comm/bootstrap.h"
#include "common/comm/collective_errors.h"
#include "common/comm/collective_note.h"
#include "common/comm/nccl/nccl_api.h"
#include "common/comm/nccl/nccl_group.h"
#include "common/comm/rank_exit.h"
#include "common/runtime/cuda/capture.h"
#include "common/runtime/cuda/device_guard.h"
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
class ScopedFlag {
 public:
  ScopedFlag(std::atomic<bool>& flag, bool value) : flag_(flag) { flag_ = value; }
  ~ScopedFlag() { flag_ = false; }
  ScopedFlag(const ScopedFlag&) = delete;
  ScopedFlag& operator=(const ScopedFlag&) = delete;

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
      memory_(std::make_shared<Memory>(api, device_, options.memory)) {
  const ncclUniqueId id = agreed_id(api_, *host_);
  // Ranks that wait inside NCCL for one which fails here cannot be told: its error ends them.
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
  // What fails now fails for a rank that is done: its end is an abort.
  if (const auto error = capture_error([this] { end(); })) handle_->abort(*error);
  memory_->close();
}

// In good order, where there is still somebody to end it with.
void NcclCommunicator::end() {
  if (peers_.is_raised() || device_.gpu().failed()) throw told_to_end();
  wait_until_quiet();
  memory_->free_retired(handle_.get());
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
      throw waited_in_vain(job_rank(), options_.deadline, running->call);
    }
    host::sleep_until(Clock::now() + kQuietLook);
  }
}

// The exchanges are the fences: behind the first no rank has a collective in flight, and none
// enqueues another before it is through the last.
std::unique_ptr<Buffer> NcclCommunicator::allocate(Bytes size) {
  attempt_together(*host_, [this] { wait_until_quiet(); });
  Memory::Block block;
  const auto error = capture_error([&] {
    attempt_together(*host_, [&] {
      memory_->free_retired(handle_.get());
      block = memory_->make(size, *handle_);
    });
    barrier();
  });
  if (!error) return memory_->as_buffer(block);
  memory_->retire(block);  // made here, but not on all
  throw Error(*error);
}

// ---- collectives ----

CollectiveCall NcclCommunicator::next(const char* name, Bytes size) {
  ++enqueued_;
  if (options_.part_of != nullptr) return *options_.part_of;
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
  if (is_captured_) {
    captured_ += request.size();
  } else if (options_.observer != nullptr) {
    options_.observer->enqueued(call);
  }
  // Dropped with all that is enqueued on a failed stream; those who would wait for it are told.
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
  if (order_ && !request.is_message()) check_order(std::to_string(note_of(request).value()));
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
  cuda::Capture::look_after(request.name());  // NCCL's own calls tell nobody
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

// ---- replays ----

void NcclCommunicator::capture_begins() {
  TANDEM_CHECK(order_ == nullptr, "a replay cannot compare the order of collectives");
  is_captured_ = true;
  captured_ = {};
}

void NcclCommunicator::replay_begins(Stream& stream) {
  cuda::CudaStream& on = cuda::cuda_stream(stream);
  replayed_ = next("replay", captured_);
  if (options_.observer != nullptr) options_.observer->enqueued(replayed_);
  if (device_.gpu().failed()) return peers_.raise();
  fail_enqueued(replayed_, capture_error([&] { replay_ = in_flight_.begin(on, replayed_); }));
}

void NcclCommunicator::replay_ends(Stream& stream) {
  cuda::CudaStream& on = cuda::cuda_stream(stream);
  if (device_.gpu().failed()) return;
  fail_enqueued(replayed_, capture_error([&] { in_flight_.end(replay_, on); }));
}

// ---- trouble ----

std::optional<Error> NcclCommunicator::trouble() {
  const auto running = in_flight_.look(Clock::now());
  if (peers_.is_raised()) return told_to_end();
  if (auto failed = capture_error([this] { device_.gpu().throw_if_failed(); })) return failed;
  if (running && running->since >= options_.deadline) {
    return waited_in_vain(job_rank(), running->since, running->call);
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

}  // namespace tandem::nccl
