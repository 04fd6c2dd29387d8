// SPDX-License-Identifier: Apache-2.0
#include "ddp/state_sync.h"

#include <gtest/gtest.h>

#include "common/comm/shared_memory/shared_memory.h"
#include "common/comm/thread_bootstrap.h"
#include "common/model/linear_stack.h"
#include "common/model/zoo.h"
#include "tests/support/errors.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

// Every rank with a model of its own.
void on_ranks(const std::vector<const Model*>& models,
              const std::function<void(Communicator&, Device&, const Model&)>& body) {
  const int ranks = static_cast<int>(models.size());
  const auto platform = host_devices(ranks);
  run_ranks_as_threads(ranks, [&](Bootstrap& bootstrap) {
    Device& device = platform->device(bootstrap.rank());
    const auto communicator = make_shared_memory_communicator(bootstrap, device);
    body(*communicator, device, *models[static_cast<std::size_t>(bootstrap.rank())]);
    barrier(bootstrap);
  });
}

void expect_refused_on_all(const Model& mine, const Model& theirs, const std::string& text) {
  on_ranks({&mine, &mine, &theirs}, [&](Communicator& ranks, Device&, const Model& model) {
    const Error error = error_of([&] { ddp::verify_same_parameters(ranks, model.layout()); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_TRUE(mentions(error, text)) << error.what();
  });
}

TEST(VerifySameParametersTest, SameModel_Passes) {
  const Mlp model("model", {8, 16, 4});
  on_ranks({&model, &model, &model}, [](Communicator& ranks, Device&, const Model& mine) {
    EXPECT_NO_THROW(ddp::verify_same_parameters(ranks, mine.layout()));
  });
}

TEST(VerifySameParametersTest, AnotherShape_NamesTheParameterAndBothShapes_OnAllRanks) {
  expect_refused_on_all(Mlp("mine", {8, 16, 4}), Mlp("theirs", {8, 16, 5}),
                        "parameter 2 is 4x16 on rank 0 and 5x16 on rank 2");
}

TEST(VerifySameParametersTest, AnotherNumberOfParameters_NamesBoth_OnAllRanks) {
  expect_refused_on_all(Mlp("mine", {8, 16, 4}), Mlp("theirs", {8, 4}),
                        "4 parameters and rank 2's has 2");
}

TEST(BroadcastStateTest, ParametersAndBuffers_BecomeTheFirstRanks) {
  const auto model = make_model("counter");
  on_ranks({model.get(), model.get()}, [](Communicator& ranks, Device& device, const Model& mine) {
    Replica replica(device, mine, 2, {});
    const auto values = [&](int rank, Span<float> of) {
      return std::vector<float>(static_cast<std::size_t>(of.size()), static_cast<float>(rank + 1));
    };
    for (const Span<float> flat : {replica.parameters().flat, replica.buffers().flat}) {
      ASSERT_FALSE(flat.empty());
      put(device, flat, values(ranks.rank(), flat));
    }
    ddp::broadcast_state(ranks, replica);
    replica.stream().synchronize();
    for (const Span<float> flat : {replica.parameters().flat, replica.buffers().flat}) {
      EXPECT_EQ(read_back<float>(device, flat), values(0, flat));
    }
  });
}

}  // namespace
}  // namespace tandem::test
