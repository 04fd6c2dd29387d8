// SPDX-License-Identifier: Apache-2.0
//
// A discrete-event simulation. The queue holds the begins and ends of tasks by time. Most tasks
// have an end as soon as they begin. Computations and transfers go on at a rate that changes as
// others come and go: then their ends are put into the queue anew, and the old ones are stale.
#include "simulate/engine/solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

namespace tandem::simulated {

namespace {

constexpr double kUnsettled = -1;

// The free part of a link, and the number of its transfers.
struct LinkRest {
  double bytes_per_second = 0;
  int transfers = 0;

  [[nodiscard]] double share() const {
    return transfers == 0 ? std::numeric_limits<double>::infinity() : bytes_per_second / transfers;
  }
};

bool crosses(const Path& path, LinkId link) { return std::ranges::find(path, link) != path.end(); }

}  // namespace

// Progressive filling: the link with the least left for each of its transfers decides their rate;
// those transfers are then settled, and what they take is taken off the other links on their ways.
std::vector<double> fair_rates(std::span<const double> links, std::span<const Path* const> paths) {
  std::vector<LinkRest> rests;
  for (const double bytes_per_second : links) rests.push_back({bytes_per_second, 0});
  for (const Path* const path : paths) {
    for (const LinkId link : *path) ++rests[index_of(link)].transfers;
  }
  std::vector<double> rates(paths.size(), kUnsettled);
  for (std::size_t settled = 0; settled < paths.size();) {
    const auto narrowest = std::ranges::min_element(rests, {}, &LinkRest::share);
    const double share = narrowest->share();
    const auto link = static_cast<LinkId>(narrowest - rests.begin());
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (rates[i] != kUnsettled || !crosses(*paths[i], link)) continue;
      rates[i] = share;
      ++settled;
      for (const LinkId crossed : *paths[i]) {
        rests[index_of(crossed)].bytes_per_second -= share;
        --rests[index_of(crossed)].transfers;
      }
    }
  }
  return rates;
}

namespace {

constexpr double kNanosecondsPerSecond = 1e9;

// The turns of one time are taken in this order. So lanes that reach a lock at one time get it in
// the order of lanes, whatever led them there.
enum class Turn : std::uint8_t { kEnd, kBegin, kBeginCall };

struct QueuedTurn {
  Nanoseconds time{0};
  Turn turn = Turn::kBegin;
  LaneId lane{};
  std::int32_t task = 0;
  std::uint32_t version = 0;  // of an end: stale unless it is the task's latest

  bool operator>(const QueuedTurn& other) const {
    const auto key = [](const QueuedTurn& t) {
      return std::tuple(t.time, t.turn, t.lane, t.task, t.version);
    };
    return key(*this) > key(other);
  }
};

// A task in the course of the simulation. Each predecessor that has not ended keeps a list of the
// waits for it. Task t has two waits: number 2t for the task before it in its lane, and number 2t +
// 1 for its predecessor in another lane.
struct Course {
  Nanoseconds ready{0};               // the latest end among the predecessors so far
  std::int32_t waits_left = 0;        // predecessors that have not ended
  std::int32_t first_wait = kNobody;  // the waits for this task
  double left = 0;                    // nanoseconds at full rate, or bytes
  double rate = 0;                    // of `left`, per nanosecond
  Nanoseconds rated{0};               // since when the task goes on at this rate
  std::uint32_t version = 0;          // counts the ends that were put into the queue
};

struct Processor {
  double contention = 0;
  std::vector<std::int32_t> computing;
  int collectives = 0;  // that move data here

  // The rate of each computation: 1 where one has the processor to itself.
  [[nodiscard]] double rate() const {
    const double slowdown = collectives > 0 ? 1 + contention : 1;
    return 1 / (slowdown * static_cast<double>(computing.size()));
  }
};

class Solver {
 public:
  Solver(std::span<const Task> tasks, Resources& resources, const std::vector<Nanoseconds>& ends)
      : tasks_(tasks),
        resources_(resources),
        locks_(resources.locks),
        holders_(resources.locks.size(), kNobody),
        earlier_(ends),
        courses_(tasks.size()),
        next_wait_(2 * tasks.size(), kNobody),
        ends_(tasks.size()),
        deciders_(tasks.size(), kNobody) {
    for (const double contention : resources.processors) processors_.push_back({contention, {}});
  }

  std::optional<LaneId> run() {
    for (std::int32_t task = 0; task < std::ssize(tasks_); ++task) {
      wait_for(of(task).before, 2 * task);
      wait_for(of(task).after, 2 * task + 1);
      if (course(task).waits_left == 0) queue_begin(task);
    }
    while (!queue_.empty()) {
      const QueuedTurn next = queue_.top();
      queue_.pop();
      ++resources_.turns;
      take(next);
    }
    // Tasks wait for earlier tasks alone, so nothing but a rank that is missing holds a lane up.
    if (!begun_.empty()) return of(begun_.begin()->second.front()).lane;
    resources_.locks = locks_;
    return std::nullopt;
  }

  [[nodiscard]] const std::vector<Nanoseconds>& ends() const { return ends_; }
  [[nodiscard]] std::vector<std::int32_t> take_deciders() { return std::move(deciders_); }

 private:
  [[nodiscard]] const Task& of(std::int32_t task) const {
    return tasks_[static_cast<std::size_t>(task)];
  }
  [[nodiscard]] Course& course(std::int32_t task) {
    return courses_[static_cast<std::size_t>(task)];
  }
  [[nodiscard]] std::int32_t& decider(std::int32_t task) {
    return deciders_[static_cast<std::size_t>(task)];
  }
  [[nodiscard]] Processor& processor(ProcessorId id) { return processors_[index_of(id)]; }

  // ---- order ----

  // The end of a task that has ended.
  [[nodiscard]] Nanoseconds end_of(TaskId task) const {
    if (task == kNoTask) return Nanoseconds{0};
    const std::size_t index = index_of(task);
    return index < earlier_.size() ? earlier_[index] : ends_[index - earlier_.size()];
  }

  void wait_for(TaskId predecessor, std::int32_t wait) {
    if (predecessor == kNoTask) return;
    Course& waiter = course(wait / 2);
    if (index_of(predecessor) < earlier_.size()) {
      waiter.ready = std::max(waiter.ready, earlier_[index_of(predecessor)]);
      return;
    }
    ++waiter.waits_left;
    std::int32_t& first = courses_[index_of(predecessor) - earlier_.size()].first_wait;
    next_wait_[static_cast<std::size_t>(wait)] = std::exchange(first, wait);
  }

  void queue_begin(std::int32_t task) {
    const Work& work = of(task).work;
    const bool calls = std::holds_alternative<LockedCall>(work);
    queue_.push(
        {course(task).ready, calls ? Turn::kBeginCall : Turn::kBegin, of(task).lane, task, 0});
  }

  void queue_end(std::int32_t task, Nanoseconds time) {
    queue_.push({time, Turn::kEnd, of(task).lane, task, ++course(task).version});
  }

  void take(const QueuedTurn& next) {
    now_ = next.time;
    const auto act = [&](const auto& work) {
      next.turn == Turn::kEnd ? end(next.task, work) : begin(next.task, work);
    };
    const bool is_stale = next.turn == Turn::kEnd && next.version != course(next.task).version;
    if (!is_stale) std::visit(act, of(next.task).work);
  }

  // The task has ended now: what waited for it may begin.
  void finish(std::int32_t task) {
    ends_[static_cast<std::size_t>(task)] = now_;
    for (std::int32_t wait = course(task).first_wait; wait != kNobody;
         wait = next_wait_[static_cast<std::size_t>(wait)]) {
      Course& waiter = course(wait / 2);
      if (now_ >= waiter.ready) decider(wait / 2) = task;
      waiter.ready = std::max(waiter.ready, now_);
      if (--waiter.waits_left == 0) queue_begin(wait / 2);
    }
  }

  // ---- tasks whose end is known when they begin ----

  void begin(std::int32_t task, const Pause& pause) { queue_end(task, now_ + pause.duration); }

  void begin(std::int32_t task, const WakeUp& wake_up) {
    const bool has_stood_still = end_of(of(task).after) > end_of(of(task).before);
    queue_end(task, has_stood_still ? now_ + wake_up.duration : now_);
  }

  void begin(std::int32_t task, const NotBefore& wait) {
    queue_end(task, std::max(now_, wait.time));
  }

  void begin(std::int32_t task, const LockedCall& call) {
    Nanoseconds& free = locks_[index_of(call.lock)];
    std::int32_t& holder = holders_[index_of(call.lock)];
    if (free > now_ && holder != kNobody) decider(task) = holder;
    holder = task;
    free = std::max(free, now_) + call.duration;
    queue_end(task, free);
  }

  template <class AnyWork>
  void end(std::int32_t task, const AnyWork& /*work*/) {
    finish(task);
  }

  // ---- tasks whose rate others change ----

  void set_rate(std::int32_t task, double rate) {
    Course& mine = course(task);
    if (mine.rate == rate) return;
    mine.left -= mine.rate * static_cast<double>((now_ - mine.rated).count());
    mine.left = std::max(mine.left, 0.0);  // an end is rounded to a nanosecond
    mine.rate = rate;
    mine.rated = now_;
    queue_end(task, now_ + Nanoseconds(std::llround(mine.left / rate)));
  }

  void share(const Processor& shared) {
    for (const std::int32_t task : shared.computing) set_rate(task, shared.rate());
  }

  void begin(std::int32_t task, const Computation& computation) {
    course(task).left = static_cast<double>(computation.alone.count());
    Processor& mine = processor(computation.processor);
    mine.computing.push_back(task);
    share(mine);
  }

  void end(std::int32_t task, const Computation& computation) {
    Processor& mine = processor(computation.processor);
    std::erase(mine.computing, task);
    share(mine);
    finish(task);
  }

  void share_links() {
    const std::vector<double> rates = fair_rates(resources_.links, paths_);
    for (std::size_t i = 0; i < rates.size(); ++i) {
      set_rate(transfers_[i], rates[i] / kNanosecondsPerSecond);
    }
  }

  void begin(std::int32_t task, const PathTransfer& transfer) {
    course(task).left = static_cast<double>(transfer.size.value);
    transfers_.push_back(task);
    paths_.push_back(&resources_.paths[index_of(transfer.path)]);
    share_links();
  }

  void end(std::int32_t task, const PathTransfer& /*transfer*/) {
    const auto at = std::ranges::find(transfers_, task) - transfers_.begin();
    transfers_.erase(transfers_.begin() + at);
    paths_.erase(paths_.begin() + at);
    share_links();
    finish(task);
  }

  // ---- collectives ----

  void begin(std::int32_t task, const CollectivePart& part) {
    const CollectivePlan& plan = resources_.collectives[index_of(part.collective)];
    std::vector<std::int32_t>& parts = begun_[part.collective];
    parts.push_back(task);
    if (std::ssize(parts) < plan.parts) return;
    for (const std::int32_t one : parts) {
      decider(one) = decider(task);
      queue_end(one, now_ + plan.duration);
      occupy(std::get<CollectivePart>(of(one).work).processor, 1);
    }
    begun_.erase(part.collective);
  }

  void end(std::int32_t task, const CollectivePart& part) {
    occupy(part.processor, -1);
    finish(task);
  }

  void occupy(ProcessorId id, int collectives) {
    Processor& mine = processor(id);
    mine.collectives += collectives;
    share(mine);
  }

  const std::span<const Task> tasks_;
  Resources& resources_;
  std::vector<Nanoseconds> locks_;     // since when each is free
  std::vector<std::int32_t> holders_;  // the last call under each
  const std::vector<Nanoseconds>& earlier_;
  std::vector<Course> courses_;
  std::vector<std::int32_t> next_wait_;  // by wait: the next one for the same task
  std::vector<Nanoseconds> ends_;
  std::vector<std::int32_t> deciders_;
  std::vector<Processor> processors_;
  std::vector<std::int32_t> transfers_;                      // under way
  std::vector<const Path*> paths_;                           // the paths of transfers_
  std::map<CollectiveId, std::vector<std::int32_t>> begun_;  // parts of collectives not complete
  std::priority_queue<QueuedTurn, std::vector<QueuedTurn>, std::greater<>> queue_;
  Nanoseconds now_{0};
};

}  // namespace

std::optional<LaneId> solve(std::span<const Task> tasks, Resources& resources,
                            std::vector<Nanoseconds>& ends, std::vector<std::int32_t>& deciders) {
  Solver solver(tasks, resources, ends);
  if (const auto stuck = solver.run()) return stuck;
  ends.insert(ends.end(), solver.ends().begin(), solver.ends().end());
  deciders = solver.take_deciders();
  return std::nullopt;
}

}  // namespace tandem::simulated
