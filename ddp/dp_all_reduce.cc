// SPDX-License-Identifier: Apache-2.0
//
// One step; every device does the same on its own share. On the host a kept thread per device
// enqueues that device's work as a rank of ddp would.
//
//   caller    [scatter] launch ------------------------------------- join
//   thread i                   input  forward loss backward update      (enqueued on device i)
//
//   compute i  [scatter |] launch | input | forward | loss | backward | exposed_comm | update
//   comm i                                              all-reduce per bucket
//
// --input=scatter: the caller deals out the whole batch as dp does; there is no phase input.
#include "ddp/dp_all_reduce.h"

#include <optional>

#include "common/base/error.h"
#include "common/comm/transports/device_team.h"
#include "common/comm/transports/transport_registry.h"
#include "common/parallel/independent.h"
#include "common/parallel/shards.h"

namespace tandem::ddp {

struct DpAllReduce::Rank {
  std::unique_ptr<Bootstrap> bootstrap;
  std::unique_ptr<Communicator> communicator;
  std::unique_ptr<LocalBatch> batch;  // null: the rank's share is scattered
  std::unique_ptr<AllReduceRank> rank;
};

DpAllReduce::DpAllReduce(Platform& platform, const Model& model, const TrainingOptions& options,
                         const DpAllReduceOptions& how)
    : group_(make_rank_group(devices_of(platform), how.deadline)),
      interpreters_(options.interpreter, platform.device_count()),
      threads_(platform.make_threads(devices_of(platform), ThreadLife::kKept)) {
  for (int i = 0; i < platform.device_count(); ++i) ranks_.push_back(std::make_unique<Rank>());
  on_threads([&](int i) { build_rank(i, platform, model, options, how); });
  if (how.shards == Shards::kScattered) build_scatter(platform, model, options);
}

// Collective, since the constructors of a rank are collective.
void DpAllReduce::build_rank(int index, Platform& platform, const Model& model,
                             const TrainingOptions& options, const DpAllReduceOptions& how) {
  Rank& mine = *ranks_[static_cast<std::size_t>(index)];
  Device& device = platform.device(index);
  const Shard share = share_of_batch(options.global_batch, index, platform.device_count());
  mine.bootstrap = group_->join(index);
  mine.communicator = how.communicator ? how.communicator(*mine.bootstrap, device)
                                       : make_communicator(Transport::kAuto, *mine.bootstrap,
                                                           device, {.deadline = how.deadline});
  if (how.shards == Shards::kOwn) {
    mine.batch = std::make_unique<LocalBatch>(platform, device, model, share, options);
  }
  mine.rank = std::make_unique<AllReduceRank>(device, model, share.count, *mine.communicator,
                                              interpreters_.worker(index), options, how.reducer);
}

void DpAllReduce::build_scatter(Platform& platform, const Model& model,
                                const TrainingOptions& options) {
  std::vector<Replica*> replicas;
  std::vector<Shard> shards;
  for (int i = 0; i < platform.device_count(); ++i) {
    replicas.push_back(&ranks_[static_cast<std::size_t>(i)]->rank->replica());
    shards.push_back(share_of_batch(options.global_batch, i, platform.device_count()));
  }
  Device& root = platform.device(0);
  batch_ = std::make_unique<WholeBatch>(platform, model, options, root, root);
  scatter_ = std::make_unique<Scatter>(
      replicas, shards,
      std::vector<BatchTensor>{{batch_->inputs(), model.input_width()},
                               {batch_->targets(), model.objective().target_width}},
      options.input);
}

// Collectives wait for work of other devices: the work of all devices must end before any device's
// objects are destroyed. NCCL's communicators end together, on a thread each.
DpAllReduce::~DpAllReduce() {
  static_cast<void>(capture_error([this] { synchronize(); }));
  for (const auto& rank : ranks_) rank->rank.reset();
  static_cast<void>(capture_error([this] {
    threads_->run([this](int i) { ranks_[static_cast<std::size_t>(i)]->communicator.reset(); });
  }));
}

// A rank that fails informs the other ranks, which would else wait for that rank.
void DpAllReduce::on_threads(const std::function<void(int)>& body) {
  std::vector<std::optional<Error>> errors(ranks_.size());
  threads_->run([&](int i) {
    const auto index = static_cast<std::size_t>(i);
    errors[index] = capture_error([&] { body(i); });
    if (!errors[index]) return;
    if (ranks_[index]->communicator) ranks_[index]->communicator->abort();
    group_->abort();
  });
  throw_cause(errors);
}

void DpAllReduce::step() {
  if (scatter_) scatter_->enqueue(interpreters_.caller());
  for (const auto& rank : ranks_) {
    Replica& replica = rank->rank->replica();
    replica.timer().begin(replica.stream(), Phase::kLaunch);
  }
  interpreters_.fork();
  on_threads([this](int i) {
    Rank& mine = *ranks_[static_cast<std::size_t>(i)];
    if (scatter_) {
      mine.rank->train(scatter_->shard(i, 0), scatter_->shard(i, 1));
      return scatter_->release(i);
    }
    Replica& replica = mine.rank->replica();
    replica.timer().begin(replica.stream(), Phase::kInput);
    mine.batch->load(replica, interpreters_.worker(i));
    mine.rank->train(mine.batch->inputs(), mine.batch->targets());
  });
  interpreters_.join();
}

// Waits for every rank, whatever fails on other ranks.
void DpAllReduce::synchronize() {
  std::vector<std::optional<Error>> errors;
  for (const auto& rank : ranks_) {
    errors.push_back(capture_error([&] { rank->rank->synchronize(); }));
  }
  throw_cause(errors);
}

AllReduceRank& DpAllReduce::first() const { return *ranks_.front()->rank; }

std::vector<DeviceTimes> DpAllReduce::collect_phases() {
  std::vector<DeviceTimes> all;
  for (const auto& rank : ranks_) all.push_back(rank->rank->replica().collect_times());
  return all;
}

std::vector<DeviceCollectives> DpAllReduce::collect_collectives() {
  std::vector<DeviceCollectives> all;
  for (const auto& rank : ranks_) all.push_back(rank->rank->collect_collectives());
  return all;
}

}  // namespace tandem::ddp
