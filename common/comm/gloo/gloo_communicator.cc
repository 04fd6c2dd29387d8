// SPDX-License-Identifier: Apache-2.0
#include "common/comm/gloo/gloo_communicator.h"

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/broadcast.h>
#include <gloo/common/logging.h>
#include <gloo/reduce.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>
#include <netdb.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/this_process.h"
#include "common/comm/blocking_communicator.h"
#include "common/comm/collective_errors.h"
#include "common/comm/node_layout.h"
#include "common/comm/rank_exit.h"
#include "common/comm/reduction.h"

namespace tandem {

namespace {

// The store in which gloo's ranks leave their addresses for one another, over a Bootstrap: set() is
// collective. A collective set() fits how gloo connects: every rank sets as many keys, and asks
// only for keys that the others set before or at the same time.
class GlooStore final : public gloo::rendezvous::Store {
 public:
  explicit GlooStore(Bootstrap& bootstrap) : bootstrap_(bootstrap) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    const std::vector<std::string> keys = bootstrap_.all_gather(key);
    const std::vector<std::string> values = bootstrap_.all_gather({data.begin(), data.end()});
    for (std::size_t rank = 0; rank < keys.size(); ++rank) {
      values_[keys[rank]] = {values[rank].begin(), values[rank].end()};
    }
  }

  std::vector<char> get(const std::string& key) override {
    wait({key});
    return values_[key];
  }

  void wait(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) {
      TANDEM_CHECK(values_.contains(key), "gloo asks for '{}', which no rank has set", key);
    }
  }

 private:
  Bootstrap& bootstrap_;
  std::map<std::string, std::vector<char>> values_;
};

using GlooContext = std::shared_ptr<gloo::rendezvous::Context>;  // gloo shares it with its buffers

// The first slot of messages; gloo's collectives use another range of slots.
constexpr std::uint64_t kMessageSlot = std::uint64_t{1} << 40;

std::terminate_handler other_handler = nullptr;  // the program's handler for all other exceptions

// The newest transport's way to end the rank, since the process ends for all transports.
std::atomic<const RankExit*> exit_of_process = nullptr;

[[noreturn]] void end_for_surplus() {
  const Error error(PeerFailure{.kind = PeerFailure::Kind::kDiverged},
                    fmt::format("{}: gloo gave up: ranks were sent what they did not expect; every "
                                "rank must enqueue the same collectives of the same size in the "
                                "same order",
                                program_invocation_short_name));
  const RankExit* const rank_exit = exit_of_process.load();
  (rank_exit != nullptr ? *rank_exit : RankExit{}).end_process(error);
}

// gloo's own thread throws where a rank is sent more than it expects, and no caller can catch the
// exception.
[[noreturn]] void end_after_gloo() {
  try {
    if (const auto thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const gloo::EnforceNotMet&) {
    end_for_surplus();
  } catch (...) {
  }
  if (other_handler != nullptr) other_handler();
  std::abort();
}

void end_in_words() {
  static const bool once = [] {
    other_handler = std::set_terminate(end_after_gloo);
    return true;
  }();
  static_cast<void>(once);
}

// The TCP device: the loopback where all ranks are on one node, else the interface to which the
// host's name resolves.
// Throws where this node's name has no address: gloo itself would end by a signal.
void check_resolves(const std::string& name) {
  addrinfo* found = nullptr;
  const int problem = ::getaddrinfo(name.c_str(), nullptr, nullptr, &found);
  if (problem == 0) return ::freeaddrinfo(found);
  fail(ErrorKind::kFailure,
       "gloo: the name of this node, '{}', has no address ({}); put the name into DNS or "
       "/etc/hosts, or use --comm=mpi",
       name, ::gai_strerror(problem));
}

std::shared_ptr<gloo::transport::Device> open_tcp(Bootstrap& bootstrap) {
  gloo::transport::tcp::attr attributes;
  if (find_nodes(bootstrap).nodes() == 1) {
    attributes.iface = "lo";
  } else {
    attributes.hostname = host_name();
    check_resolves(attributes.hostname);
  }
  return gloo::transport::tcp::CreateDevice(attributes);
}

// At least 1 ms: gloo takes 0 for no deadline.
std::chrono::milliseconds timeout_of(Nanoseconds deadline) {
  return std::max(std::chrono::milliseconds(1),
                  std::chrono::ceil<std::chrono::milliseconds>(deadline));
}

GlooContext connect(Bootstrap& bootstrap, std::shared_ptr<gloo::transport::Device>& tcp,
                    Nanoseconds deadline) {
  end_in_words();
  auto context = std::make_shared<gloo::rendezvous::Context>(bootstrap.rank(), bootstrap.size());
  context->setTimeout(timeout_of(deadline));
  GlooStore store(bootstrap);
  context->connectFullMesh(store, tcp);
  return context;
}

// Gloo's errors as ours. Gloo has one type of error for a broken connection and for a timeout.
template <class Call>
void through_gloo(int rank, Nanoseconds deadline, Call&& call) {
  const TimePoint began = Clock::now();
  try {
    call();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    const Nanoseconds waited = Clock::now() - began;
    PeerFailure failure{.kind = PeerFailure::Kind::kLost};
    if (waited >= deadline) failure = {.kind = PeerFailure::Kind::kWaited, .waited = waited};
    fail(std::move(failure),
         "rank {}: gloo gave up ({}): another rank is lost or late: look at its output", rank,
         error.what());
  }
}

std::size_t bytes_in(ConstAnySpan span) {
  return static_cast<std::size_t>(span.size_bytes().value);
}

// Gloo takes a pointer to non-const also where gloo only reads.
void* readable(ConstAnySpan span) { return const_cast<std::byte*>(span.data()); }

void copy_all(ConstAnySpan from, AnySpan to) {
  if (from.data() != to.data()) std::memmove(to.data(), from.data(), bytes_in(from));
}

// `options` of a reduction with the type's input (absent: in place), output and sum.
template <class Options>
void set_operands(Options& options, ConstAnySpan from, void* to) {
  const auto count = static_cast<std::size_t>(from.size());
  const bool in_place = from.data() == to;
  if (from.dtype() == DType::kFloat32) {
    if (!in_place) options.setInput(static_cast<float*>(readable(from)), count);
    options.setOutput(static_cast<float*>(to), count);
  } else {
    if (!in_place) options.setInput(static_cast<std::uint16_t*>(readable(from)), count);
    options.setOutput(static_cast<std::uint16_t*>(to), count);
  }
  options.setReduceFunction(
      [type = from.dtype()](void* sum, const void* a, const void* b, std::size_t elements) {
        reduce_elements({static_cast<const std::byte*>(a), static_cast<const std::byte*>(b)},
                        {static_cast<std::byte*>(sum)}, {0, static_cast<std::int64_t>(elements)},
                        {.type = type});
      });
}

// Collectives and the callers' control messages do not mix: each kind has a context, which is a
// connection to every rank. A context of one rank has no connection: its data is copied here.
class GlooTransport final : public BlockingTransport {
 public:
  GlooTransport(Bootstrap& bootstrap, const CommunicatorOptions& options)
      : rank_(bootstrap.rank()),
        ranks_(bootstrap.size()),
        job_rank_(own_job_rank(bootstrap)),
        deadline_(options.deadline),
        rank_exit_(options.rank_exit) {
    const BrokenPipeIsAnError guard;  // gloo's own thread, which starts here, inherits the guard
    through_gloo(job_rank_, deadline_, [&] {
      tcp_ = open_tcp(bootstrap);
      on_stream_ = connect(bootstrap, tcp_, deadline_);
      on_host_ = connect(bootstrap, tcp_, deadline_);
    });
    exit_of_process = &rank_exit_;
  }
  ~GlooTransport() override {
    const RankExit* own = &rank_exit_;
    exit_of_process.compare_exchange_strong(own, nullptr);
  }

  void all_reduce(const CollectiveCall&, ConstAnySpan mine, AnySpan result) override {
    if (ranks_ == 1) return copy_all(mine, result);
    inside([&] {
      gloo::AllreduceOptions options(on_stream_);
      set_operands(options, mine, result.data());
      gloo::allreduce(options);
    });
  }

  // gloo computes in the output buffer, so ranks other than the root pass a scratch buffer.
  void reduce(const CollectiveCall&, AnySpan values, int root) override {
    if (ranks_ == 1) return;
    void* const to = rank_ == root ? values.data() : scratch(bytes_in(values));
    inside([&] {
      gloo::ReduceOptions options(on_stream_);
      set_operands(options, values, to);
      options.setRoot(root);
      gloo::reduce(options);
    });
  }

  void reduce_scatter(const CollectiveCall& call, ConstAnySpan all, AnySpan mine) override {
    const AnySpan sums(scratch(bytes_in(all)), all.size(), all.dtype(), all.device());
    all_reduce(call, all, sums);
    copy_all(sums.subspan(rank_ * mine.size(), mine.size()), mine);
  }

  void broadcast(const CollectiveCall&, AnySpan values, int root) override {
    if (ranks_ == 1) return;
    inside([&] {
      gloo::BroadcastOptions options(on_stream_);
      options.setOutput(values.data(), bytes_in(values));
      options.setRoot(root);
      gloo::broadcast(options);
    });
  }

  void all_gather(const CollectiveCall&, ConstAnySpan mine, AnySpan all) override {
    const AnySpan own = all.subspan(rank_ * mine.size(), mine.size());
    copy_all(mine, own);
    inside([&] { gather_bytes(on_stream_, all.data(), bytes_in(all)); });
  }

  void send(const CollectiveCall&, ConstAnySpan values, int to) override {
    inside([&] {
      const auto buffer = on_stream_->createUnboundBuffer(readable(values), bytes_in(values));
      buffer->send(to, kMessageSlot);
      buffer->waitSend(on_stream_->getTimeout());
    });
  }

  void recv(const CollectiveCall&, AnySpan values, int from) override {
    inside([&] {
      const auto buffer = on_stream_->createUnboundBuffer(values.data(), bytes_in(values));
      buffer->recv(from, kMessageSlot);
      buffer->waitRecv(on_stream_->getTimeout());
    });
  }

  // The ranks exchange lengths first, then all texts padded to the longest.
  [[nodiscard]] std::vector<std::string> gather_texts(const CollectiveCall&,
                                                      const std::string& mine) override {
    const auto ranks = static_cast<std::size_t>(ranks_);
    const auto me = static_cast<std::size_t>(rank_);
    std::vector<std::int64_t> lengths(ranks, 0);
    lengths[me] = std::ssize(mine);
    const BrokenPipeIsAnError guard;
    checked([&] { gather_bytes(on_host_, lengths.data(), ranks * sizeof(std::int64_t)); });
    const auto longest = static_cast<std::size_t>(*std::ranges::max_element(lengths));
    // Every text of a barrier is empty.
    if (longest == 0) return std::vector<std::string>(ranks);
    const std::size_t room = (longest + 7) / 8 * 8;  // gloo halves a message
    std::string all(ranks * room, '\0');
    std::ranges::copy(mine, all.begin() + static_cast<std::ptrdiff_t>(me * room));
    checked([&] { gather_bytes(on_host_, all.data(), all.size()); });
    std::vector<std::string> texts;
    for (std::size_t peer = 0; peer < ranks; ++peer) {
      texts.push_back(all.substr(peer * room, static_cast<std::size_t>(lengths[peer])));
    }
    return texts;
  }

  // Other ranks see that their connections to this rank are closed.
  void abort() noexcept override {
    aborted_ = true;
    try {
      on_stream_->closeConnections();
      on_host_->closeConnections();
    } catch (const std::exception&) {
      // The connections are closed already.
    }
  }

 private:
  // Runs a call on a stream's worker.
  template <class Call>
  void inside(Call&& call) {
    keep_broken_pipe_an_error();
    checked(call);
  }

  template <class Call>
  void checked(Call&& call) {
    const auto check = [this] {
      if (!aborted_) return;
      throw aborted_by_others(job_rank_);
    };
    check();
    try {
      through_gloo(job_rank_, deadline_, call);
    } catch (const Error&) {
      check();  // throws the reason for gloo's error instead, where there is one
      throw;
    }
  }

  // Gathers in place: a rank's own part is in `all` already.
  void gather_bytes(const GlooContext& context, void* all, std::size_t size) const {
    if (ranks_ == 1) return;
    gloo::AllgatherOptions options(context);
    options.setOutput(static_cast<std::byte*>(all), size);
    gloo::allgather(options);
  }

  // The scratch buffer of the stream's worker, kept so that its pages are touched once.
  [[nodiscard]] std::byte* scratch(std::size_t size) {
    if (scratch_.size() < size) scratch_.resize(size);
    return scratch_.data();
  }

  const int rank_;
  const int ranks_;
  const int job_rank_;  // this rank's job number, for messages
  const Nanoseconds deadline_;
  const RankExit rank_exit_;
  std::shared_ptr<gloo::transport::Device> tcp_;  // gloo shares it with the contexts
  GlooContext on_stream_;
  GlooContext on_host_;
  std::vector<std::byte> scratch_;
  std::atomic<bool> aborted_ = false;
};

}  // namespace

std::unique_ptr<Communicator> make_gloo_communicator(Bootstrap& bootstrap, Device& device,
                                                     const CommunicatorOptions& options) {
  return make_blocking_communicator(bootstrap, device, options,
                                    std::make_unique<GlooTransport>(bootstrap, options));
}

namespace {

sigset_t broken_pipe() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

bool is_pending() {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGPIPE) == 1;
}

}  // namespace

BrokenPipeIsAnError::BrokenPipeIsAnError() : was_pending_(is_pending()) {
  const sigset_t set = broken_pipe();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

// The kernel sends the signal to the thread that wrote, so the signal is pending by now.
BrokenPipeIsAnError::~BrokenPipeIsAnError() {
  if (!was_pending_ && is_pending()) {
    const sigset_t set = broken_pipe();
    const timespec at_once{};
    sigtimedwait(&set, nullptr, &at_once);
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void keep_broken_pipe_an_error() {
  thread_local bool is_kept = false;
  if (is_kept) return;
  const sigset_t set = broken_pipe();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  is_kept = true;
}

}  // namespace tandem
