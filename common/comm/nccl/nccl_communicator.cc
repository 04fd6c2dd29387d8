// SPDX-License-Identifier: Apache-2.0
#include "common/comm/nccl/nccl_communicator.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "common/base/capture_error.h"
#include "common/base/check.h"
#include "common/comm/agreement.h"
#include "common/comm/collective_checks.h"
#include "common/comm/nccl/nccl_group.h"
#include "common/comm/nccl/nccl_result.h"
#include "common/comm/waited_in_vain.h"
#include "common/runtime/cuda/device_guard.h"
#include "common/runtime/host/parking.h"

namespace tandem::nccl {
namespace {

// Between looks at what is in flight; a late peer is noticed at most that part of the deadline
// later.
constexpr Nanoseconds kLook = std::chrono::milliseconds(5);
constexpr int kLooksPerDeadline = 8;
constexpr Nanoseconds kQuietLook = std::chrono::microseconds(50);

constexpr int kAnyColour = 0;

std::size_t count_of(ConstAnySpan span) { return static_cast<std::size_t>(span.size()); }

ncclDataType_t type_of(DType type) {
  switch (type) {
    case DType::kFloat32:
      return ncclFloat32;
    case DType::kBFloat16:
      return ncclBfloat16;
    case DType::kFloat16:
      return ncclFloat16;
  }
  fail(ErrorKind::kLogic, "an element type without a name");
}

std::string note_of(const char* name, ConstAnySpan values, int root = 0, const char* op = "") {
  return fmt::format("{} of {} {} root {} {}", name, values.size(), name_of(values.dtype()), root,
                     op);
}

std::string note_of(const char* name, const std::vector<Block>& blocks, int root) {
  std::string note = fmt::format("{} root {}", name, root);
  for (const Block& block : blocks) note += fmt::format(" {}+{}", block.offset, block.count);
  return note;
}

const char* name_of(ReduceOp op) { return op == ReduceOp::kAverage ? "average" : "sum"; }

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

Error in_call(const CollectiveCall& call, const Error& error) {
  return {error.kind(), fmt::format("in {} #{} ({}): {}", call.name, call.sequence,
                                    to_string(call.size), error.what())};
}

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
      memory_(std::make_shared<Memory>(api, device_)) {
  const ncclUniqueId id = agreed_id(api_, *host_);
  attempt_together(*host_, [&] {
    // Those who wait for a rank that fails here stop soon.
    const auto error = capture_error([&] {
      handle_ = std::make_unique<Handle>(api_,
                                         Handle::Rank{.rank = host_->rank(),
                                                      .size = host_->size(),
                                                      .job_rank = job_rank(),
                                                      .gpu = device_.gpu().ordinal(),
                                                      .deadline = options_.deadline},
                                         id, peers_);
    });
    if (!error) return;
    peers_.raise();
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
  if (capture_error([this] { end(); })) handle_->abort();
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

Error NcclCommunicator::told_to_end() const {
  return {ErrorKind::kCommunication,
          fmt::format("rank {}: the communicator was aborted", job_rank())};
}

// ---- memory ----

void NcclCommunicator::wait_until_quiet() {
  const TimePoint give_up_at = Clock::now() + options_.deadline;
  while (!in_flight_.is_empty()) {
    device_.gpu().throw_if_failed();
    const auto running = in_flight_.look(Clock::now());
    if (running && Clock::now() >= give_up_at) {
      throw Error(ErrorKind::kCommunication,
                  waited_in_vain(job_rank(), options_.deadline, running->call));
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
      block = memory_->make(size);
    });
    register_together(block);
  });
  if (!error) return memory_->as_buffer(block);
  memory_->retire(block);  // made here, but not on all
  throw Error(*error);
}

// On all ranks or on none: NCCL does not stand a mixture.
void NcclCommunicator::register_together(Memory::Block& block) {
  const bool mine = memory_->try_register(block, *handle_);
  const std::vector<std::string> all = host_->all_gather(mine ? "registered" : "plain");
  if (std::ranges::find(all, "plain") != all.end()) memory_->unregister(block, *handle_);
  barrier();
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
    fail(ErrorKind::kCommunication,
         "rank {} and rank {} enqueued different collectives: every rank must enqueue the same "
         "ones in the same order",
         job_rank(), host_->job_ranks()[peer]);
  }
}

void NcclCommunicator::enqueue(Stream& stream, Collective collective) {
  check_placement(collective.name, device_.id(), collective.accesses);
  TANDEM_CHECK(stream.device() == device_.id(), "{} of {} on a stream of {}", collective.name,
               to_string(device_.id()), to_string(stream.device()));
  cuda::CudaStream& on = cuda::cuda_stream(stream);
  const CollectiveCall call = next(collective.name, collective.size);
  if (options_.observer != nullptr) options_.observer->enqueued(call);
  // Dropped with all that is enqueued on a failed stream; those who would wait for it are told.
  if (on.has_failed()) return peers_.raise();
  const auto error = capture_error([&] { launch(on, call, collective); });
  if (!error) return;
  if (error->kind() == ErrorKind::kLogic) throw Error(*error);
  if (!grouped_) return give_up(in_call(call, *error));
  // NCCL cannot abort within an open group.
  grouped_->emplace_back(call, [reason = *error] { throw Error(reason); });
}

void NcclCommunicator::launch(cuda::CudaStream& stream, const CollectiveCall& call,
                              const Collective& collective) {
  if (order_ && !collective.note.empty()) check_order(collective.note);
  const InFlight::Ticket ticket = in_flight_.begin(stream, call);
  const auto error = capture_error(
      [&] { handle_->launch([&](ncclComm_t comm) { collective.calls(comm, stream.get()); }); });
  if (error) {
    in_flight_.drop(ticket);
    throw Error(*error);
  }
  if (grouped_) {
    grouped_->emplace_back(call, [=, this, &stream] { finish(ticket, stream, collective); });
    return;
  }
  handle_->settle(call);
  finish(ticket, stream, collective);
}

void NcclCommunicator::finish(InFlight::Ticket ticket, cuda::CudaStream& stream,
                              const Collective& collective) {
  if (collective.after) collective.after(stream);
  in_flight_.end(ticket, stream);
}

void NcclCommunicator::enter_group() {
  grouped_.emplace();
  group_lock_ = handle_->hold();
}

void NcclCommunicator::leave_group(ncclResult_t result) {
  const auto calls = std::exchange(grouped_, std::nullopt);
  for (const auto& [call, finish_call] : *calls) {
    const auto error = capture_error([&, &one = call, &finish_one = finish_call] {
      check(api_, result, "ncclGroupEnd");
      handle_->settle(one);
      finish_one();
    });
    if (error) return give_up(in_call(call, *error));
  }
}

// Worked out only where it is compared.
template <class... Parts>
std::string NcclCommunicator::noted(const Parts&... parts) const {
  return order_ ? note_of(parts...) : std::string();
}

std::function<void(cuda::CudaStream&)> NcclCommunicator::average(AnySpan values,
                                                                 ReduceOp op) const {
  if (op == ReduceOp::kSum || size() == 1 || values.empty()) return nullptr;
  return [values, scale = scale_, factor = factor_of(op, size())](cuda::CudaStream& stream) {
    scale(stream, values, factor);
  };
}

void NcclCommunicator::all_reduce(Stream& stream, ConstAnySpan mine, AnySpan result, ReduceOp op) {
  check_same_shape("all_reduce", mine, result);
  enqueue(stream, {.name = "all_reduce",
                   .size = mine.size_bytes(),
                   .accesses = {reads(mine), writes(result)},
                   .note = noted("all_reduce", mine, 0, name_of(op)),
                   .calls =
                       [=, this](ncclComm_t comm, cudaStream_t on) {
                         check(api_,
                               api_.all_reduce(mine.data(), result.data(), count_of(mine),
                                               type_of(mine.dtype()), ncclSum, comm, on),
                               "ncclAllReduce");
                       },
                   .after = average(result, op)});
}

void NcclCommunicator::broadcast(Stream& stream, AnySpan values, int root) {
  check_root(root, size());
  enqueue(stream, {.name = "broadcast",
                   .size = values.size_bytes(),
                   .accesses = {writes(values)},
                   .note = noted("broadcast", values, root),
                   .calls =
                       [=, this](ncclComm_t comm, cudaStream_t on) {
                         check(api_,
                               api_.broadcast(values.data(), values.data(), count_of(values),
                                              type_of(values.dtype()), root, comm, on),
                               "ncclBroadcast");
                       },
                   .after = nullptr});
}

void NcclCommunicator::reduce(Stream& stream, ConstAnySpan mine, AnySpan result, int root) {
  check_root(root, size());
  check_reduction(mine, result, rank() == root);
  enqueue(stream, {.name = "reduce",
                   .size = mine.size_bytes(),
                   .accesses = {reads(mine), writes(result)},
                   .note = noted("reduce", mine, root),
                   .calls =
                       [=, this](ncclComm_t comm, cudaStream_t on) {
                         // Elsewhere than on root NCCL writes nothing, wherever it may.
                         check(api_,
                               api_.reduce(mine.data(), result.data(), count_of(mine),
                                           type_of(mine.dtype()), ncclSum, root, comm, on),
                               "ncclReduce");
                       },
                   .after = nullptr});
}

void NcclCommunicator::all_gather(Stream& stream, ConstAnySpan mine, AnySpan all) {
  check_parts("all_gather", mine, all, size());
  enqueue(stream, {.name = "all_gather",
                   .size = all.size_bytes(),
                   .accesses = {reads(mine), writes(all)},
                   .note = noted("all_gather", mine),
                   .calls =
                       [=, this](ncclComm_t comm, cudaStream_t on) {
                         check(api_,
                               api_.all_gather(mine.data(), all.data(), count_of(mine),
                                               type_of(mine.dtype()), comm, on),
                               "ncclAllGather");
                       },
                   .after = nullptr});
}

void NcclCommunicator::reduce_scatter(Stream& stream, ConstAnySpan all, AnySpan mine, ReduceOp op) {
  check_parts("reduce_scatter", mine, all, size());
  enqueue(stream, {.name = "reduce_scatter",
                   .size = all.size_bytes(),
                   .accesses = {reads(all), writes(mine)},
                   .note = noted("reduce_scatter", mine, 0, name_of(op)),
                   .calls =
                       [=, this](ncclComm_t comm, cudaStream_t on) {
                         check(api_,
                               api_.reduce_scatter(all.data(), mine.data(), count_of(mine),
                                                   type_of(mine.dtype()), ncclSum, comm, on),
                               "ncclReduceScatter");
                       },
                   .after = average(mine, op)});
}

// ---- blocks and messages ----

AnySpan NcclCommunicator::on_device(AnySpan at_root) {
  if (!at_root.device().is_host_memory()) return at_root;
  TANDEM_CHECK(!grouped_, "the host's memory in a group of calls: {} elements", at_root.size());
  const Bytes size = at_root.size_bytes();
  // What is too small stays until the end: a call in flight may use it.
  if (staging_.empty() || staging_.back()->bytes().size() < size.value) {
    staging_.push_back(device_.allocate(size));
  }
  return {staging_.back()->bytes().data(), at_root.size(), at_root.dtype(), device_.id()};
}

ConstAnySpan NcclCommunicator::copied_to_device(Stream& stream, ConstAnySpan source) {
  if (!source.device().is_host_memory() || source.empty()) return source;
  const AnySpan staged = on_device(
      {const_cast<std::byte*>(source.data()), source.size(), source.dtype(), source.device()});
  stream.copy_bytes(staged.bytes(), source.bytes());
  return staged;
}

// With every other rank that has a block, as one call: they go on at the same time.
void NcclCommunicator::exchange_blocks(
    const std::vector<Block>& blocks,
    const std::function<void(int peer, const Block& block)>& each) const {
  Group group(api_);
  for (int peer = 0; peer < size(); ++peer) {
    const Block& block = blocks[static_cast<std::size_t>(peer)];
    if (peer != rank() && block.count > 0) each(peer, block);
  }
  check(api_, group.end(), "ncclGroupEnd");
}

void NcclCommunicator::scatter(Stream& stream, ConstAnySpan source, AnySpan mine,
                               const std::vector<Block>& blocks, int root) {
  check_root(root, size());
  const bool is_root = rank() == root;
  check_blocks(blocks, mine, source, is_root, rank(), size());
  std::vector<Access> accesses{writes(mine)};
  if (is_root) accesses.push_back(at_root(reads(source)));
  const ConstAnySpan from = is_root ? copied_to_device(stream, source) : source;
  const ncclDataType_t type = type_of(mine.dtype());
  enqueue(stream, {.name = "scatter",
                   .size = mine.size_bytes(),
                   .accesses = std::move(accesses),
                   .note = noted("scatter", blocks, root),
                   .calls =
                       [=, this](ncclComm_t comm, cudaStream_t on) {
                         if (!is_root) {
                           if (mine.empty()) return;
                           return check(
                               api_, api_.recv(mine.data(), count_of(mine), type, root, comm, on),
                               "ncclRecv");
                         }
                         exchange_blocks(blocks, [&](int peer, const Block& block) {
                           const ConstAnySpan part = from.subspan(block.offset, block.count);
                           check(api_, api_.send(part.data(), count_of(part), type, peer, comm, on),
                                 "ncclSend");
                         });
                       },
                   .after =
                       [=](cuda::CudaStream& on) {
                         if (!is_root || mine.empty()) return;
                         const Block& own = blocks[static_cast<std::size_t>(root)];
                         const ConstAnySpan part = from.subspan(own.offset, own.count);
                         if (part.data() != mine.data()) on.copy_bytes(mine.bytes(), part.bytes());
                       }});
}

void NcclCommunicator::gather(Stream& stream, ConstAnySpan mine, AnySpan destination,
                              const std::vector<Block>& blocks, int root) {
  check_root(root, size());
  const bool is_root = rank() == root;
  check_blocks(blocks, mine, destination, is_root, rank(), size());
  std::vector<Access> accesses{reads(mine)};
  if (is_root) accesses.push_back(at_root(writes(destination)));
  const AnySpan to = is_root && !destination.empty() ? on_device(destination) : destination;
  const ncclDataType_t type = type_of(mine.dtype());
  enqueue(stream, {.name = "gather",
                   .size = mine.size_bytes(),
                   .accesses = std::move(accesses),
                   .note = noted("gather", blocks, root),
                   .calls =
                       [=, this](ncclComm_t comm, cudaStream_t on) {
                         if (!is_root) {
                           if (mine.empty()) return;
                           return check(
                               api_, api_.send(mine.data(), count_of(mine), type, root, comm, on),
                               "ncclSend");
                         }
                         exchange_blocks(blocks, [&](int peer, const Block& block) {
                           const AnySpan part = to.subspan(block.offset, block.count);
                           check(api_, api_.recv(part.data(), count_of(part), type, peer, comm, on),
                                 "ncclRecv");
                         });
                       },
                   .after =
                       [=, this](cuda::CudaStream& on) {
                         if (!is_root) return;
                         for (int peer = 0; peer < size(); ++peer) {
                           const Block& block = blocks[static_cast<std::size_t>(peer)];
                           if (block.count == 0) continue;
                           const AnySpan there = destination.subspan(block.offset, block.count);
                           const ConstAnySpan part =
                               peer == root ? mine : to.subspan(block.offset, block.count);
                           if (part.data() != there.data())
                             on.copy_bytes(there.bytes(), part.bytes());
                         }
                       }});
}

void NcclCommunicator::send(Stream& stream, ConstAnySpan values, int to) {
  check_peer(to, rank(), size());
  enqueue(stream, {.name = "send",
                   .size = values.size_bytes(),
                   .accesses = {reads(values)},
                   .calls =
                       [=, this](ncclComm_t comm, cudaStream_t on) {
                         check(api_,
                               api_.send(values.data(), count_of(values), type_of(values.dtype()),
                                         to, comm, on),
                               "ncclSend");
                       },
                   .after = nullptr});
}

void NcclCommunicator::recv(Stream& stream, AnySpan values, int from) {
  check_peer(from, rank(), size());
  enqueue(stream, {.name = "recv",
                   .size = values.size_bytes(),
                   .accesses = {writes(values)},
                   .calls =
                       [=, this](ncclComm_t comm, cudaStream_t on) {
                         check(api_,
                               api_.recv(values.data(), count_of(values), type_of(values.dtype()),
                                         from, comm, on),
                               "ncclRecv");
                       },
                   .after = nullptr});
}

std::vector<double> NcclCommunicator::all_gather(double mine) {
  std::string bits(sizeof(mine), '\0');
  std::memcpy(bits.data(), &mine, sizeof(mine));
  std::vector<double> values;
  for (const std::string& theirs : host_->all_gather(bits)) {
    values.emplace_back();
    std::memcpy(&values.back(), theirs.data(), sizeof(double));
  }
  return values;
}

// ---- trouble ----

std::optional<Error> NcclCommunicator::trouble() {
  const auto running = in_flight_.look(Clock::now());
  if (peers_.is_raised()) return told_to_end();
  if (device_.gpu().failed()) return told_to_end();
  if (running && running->since >= options_.deadline) {
    return Error(ErrorKind::kCommunication,
                 waited_in_vain(job_rank(), running->since, running->call));
  }
  return capture_error([this] { check(api_, handle_->state(), "ncclCommGetAsyncError"); });
}

void NcclCommunicator::watch() {
  const Nanoseconds look = std::min(kLook, options_.deadline / kLooksPerDeadline);
  std::unique_lock lock(mutex_);
  while (!closed_) {
    changed_.wait_until(lock, Clock::now() + look);
    lock.unlock();
    if (const auto reason = trouble()) return give_up(*reason);
    lock.lock();
  }
}

void NcclCommunicator::give_up(const Error& reason) noexcept {
  device_.gpu().give_up(reason);
  peers_.raise();
  handle_->abort();
  in_flight_.forget();
  // Threads of this process that wait for this one in an exchange; processes have a deadline there.
  if (host_->shares_address_space()) host_->abort(1);
}

}  // namespace tandem::nccl
