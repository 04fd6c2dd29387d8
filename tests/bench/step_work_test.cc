// SPDX-License-Identifier: Apache-2.0
#include "bench/step/step_work.h"

#include <gtest/gtest.h>

#include "common/model/zoo.h"

namespace tandem::bench {
namespace {

StepWork work_of(const std::string& model, OptimizerOptions optimizer = {}, std::int64_t batch = 2,
                 Precision precision = Precision::kFp32) {
  return count_step(*make_model(model), batch, precision, optimizer);
}

// Elements that lie in an arena, each tensor's filled up to 64 bytes.
std::int64_t elements_of(const std::string& name) {
  std::int64_t elements = 0;
  const auto model = make_model(name);
  for (const auto& segment : model->layout().segments()) {
    elements += (segment.count + 15) / 16 * 16;
  }
  return elements;
}

// What the products compute that a step enqueues is what the model says by its formula.
TEST(StepWorkTest, FlopsOfEveryModel_AreThoseOfTheProductsThatItEnqueues) {
  for (const std::string& name : model_names()) {
    const StepWork work = work_of(name, {}, 1);
    EXPECT_DOUBLE_EQ(work.product_flops, make_model(name)->flops_per_sample()) << name;
  }
}

TEST(StepWorkTest, FlopsGrowWithTheBatch_OperationsDoNot) {
  for (const char* name : {"mlp-small", "custom", "padded", "gpt2-nano", "resnet-tiny"}) {
    const StepWork two = work_of(name, {}, 2);
    const StepWork eight = work_of(name, {}, 8);
    EXPECT_DOUBLE_EQ(eight.product_flops, 4 * two.product_flops) << name;
    EXPECT_EQ(eight.operations(), two.operations()) << name;
  }
}

// By hand. A GPT-2's layer has 2 norms, 4 products and attention; backward 2 for each product and
// one for each other.
TEST(StepWorkTest, OperationsAreThoseOfTheLayers) {
  const StepWork gpt2 = work_of("gpt2-124m:64");
  EXPECT_EQ(gpt2.forward, 1 + 12 * (2 + 4 + 1) + 1 + 1);
  EXPECT_EQ(gpt2.backward, 2 + 1 + 12 * (2 + 4 * 2 + 1) + 1 + 1);  // unused places are filled
  EXPECT_EQ(work_of("gpt2-124m").backward, gpt2.backward - 1);
  // 53 convolutions with their norms, whose batches one operation counts; two pools and the head.
  const StepWork resnet = work_of("resnet50");
  EXPECT_EQ(resnet.forward, 53 * 2 + 1 + 2 + 1);
  EXPECT_EQ(resnet.backward, 53 * 3 - 1 + 2 + 2);
  const StepWork mlp = work_of("mlp:3x8");
  EXPECT_EQ(mlp.forward, 3);
  EXPECT_EQ(mlp.backward, 2 * 3 - 1 + 2);  // ReLU behind all layers but the last
  for (const StepWork& work : {gpt2, resnet, mlp}) EXPECT_EQ(work.loss + work.update, 2);
}

TEST(StepWorkTest, NarrowPrecision_CastsMore) {
  for (const char* name : {"mlp-small", "gpt2-nano", "resnet-tiny"}) {
    const StepWork narrow = work_of(name, {}, 2, Precision::kBf16);
    EXPECT_GT(narrow.forward, work_of(name).forward) << name;
    EXPECT_DOUBLE_EQ(narrow.product_flops, work_of(name).product_flops) << name;
  }
}

// Gradient read; weight, and each thing kept per weight, read and written: 4 bytes each.
TEST(StepWorkTest, OptimizersMoveWhatTheyReadAndWrite) {
  for (const char* name : {"linear", "mlp-large", "gpt2-124m", "resnet50"}) {
    const std::int64_t elements = elements_of(name);
    EXPECT_EQ(work_of(name).optimizer_bytes.value, 4 * (1 + 2 * 2) * elements) << name;
    for (const OptimizerKind kind : {OptimizerKind::kAdam, OptimizerKind::kAdamW}) {
      // Adam's factors of a step lie on the device, 64 bytes of them.
      EXPECT_EQ(work_of(name, {.kind = kind}).optimizer_bytes.value,
                64 + 4 * (1 + 2 * 3) * elements);
    }
  }
  EXPECT_EQ(elements_of("gpt2-124m"), 124'439'808);  // each of its tensors fills whole lines
}

}  // namespace
}  // namespace tandem::bench
