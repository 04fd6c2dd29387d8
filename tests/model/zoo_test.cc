// SPDX-License-Identifier: Apache-2.0
#include "common/model/zoo.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace tandem::test {
namespace {

struct Named {
  const char* name;
  double parameters;
};

class ZooTest : public testing::TestWithParam<Named> {};

TEST_P(ZooTest, Model_HasItsNameAndSize) {
  const auto model = make_model(GetParam().name);
  EXPECT_EQ(model->name(), GetParam().name);
  EXPECT_NEAR(static_cast<double>(model->layout().parameter_count()), GetParam().parameters,
              0.05 * GetParam().parameters);
}

INSTANTIATE_TEST_SUITE_P(Mlps, ZooTest,
                         testing::Values(Named{"mlp-tiny", 0.1e6}, Named{"mlp-small", 1.6e6},
                                         Named{"mlp-base", 24e6}, Named{"mlp-large", 150e6},
                                         Named{"mlp:4x1024", 4 * (1024 * 1024 + 1024)},
                                         Named{"mlp:1x1", 2}));

INSTANTIATE_TEST_SUITE_P(Family, ZooTest,
                         testing::Values(Named{"mlp-0.1m", 0.1e6}, Named{"mlp-0.3m", 0.3e6},
                                         Named{"mlp-1m", 1e6}, Named{"mlp-3m", 3e6},
                                         Named{"mlp-10m", 10e6}, Named{"mlp-30m", 30e6},
                                         Named{"mlp-100m", 100e6}, Named{"mlp-300m", 300e6},
                                         Named{"mlp-1b", 1e9}));

INSTANTIATE_TEST_SUITE_P(Gpt2, ZooTest,
                         testing::Values(Named{"gpt2-nano", 0.13e6}, Named{"gpt2-nano:7", 0.13e6},
                                         Named{"gpt2-355m:64", 355e6}));

INSTANTIATE_TEST_SUITE_P(ResNets, ZooTest,
                         testing::Values(Named{"resnet50", 25.6e6}, Named{"resnet-tiny", 3922}));

TEST(ZooTest, Gpt2_HasThePublishedParameters_WhateverTheSequence) {
  const auto parameters = [](const char* name) {
    return make_model(name)->layout().parameter_count();
  };
  EXPECT_EQ(parameters("gpt2-124m"), 124'439'808);
  EXPECT_EQ(parameters("gpt2-355m"), 354'823'168);
  EXPECT_EQ(parameters("gpt2-774m"), 774'030'080);
  EXPECT_EQ(parameters("gpt2-1558m"), 1'557'611'200);
  EXPECT_EQ(parameters("gpt2-1558m:1"), 1'557'611'200);
}

TEST(ZooTest, Gpt2_TakesItsSequenceBehindAColon_OrTheWholeTable) {
  EXPECT_EQ(make_model("gpt2-124m")->input_width(), 1024);
  EXPECT_EQ(make_model("gpt2-124m:1024")->input_width(), 1024);
  EXPECT_EQ(make_model("gpt2-124m:64")->input_width(), 64);
  EXPECT_EQ(make_model("gpt2-nano")->input_width(), 32);
  EXPECT_EQ(make_model("gpt2-nano:1")->output_width(), 512);
}

TEST(ZooTest, SequenceThatTheTableDoesNotHold_IsAUsageError) {
  for (const char* name : {"gpt2-nano:", "gpt2-nano:0", "gpt2-nano:33", "gpt2-nano:-1",
                           "gpt2-nano:8x", "gpt2-nano: 8", "gpt2-nano:8:8"}) {
    const Error error = error_of([name] { static_cast<void>(make_model(name)); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << name;
    EXPECT_TRUE(mentions(error, "use 1 to 32, such as gpt2-nano:16")) << error.what();
  }
}

TEST(ZooTest, EveryName_MakesTheModelOfThatName) {
  const std::vector<std::string> names = model_names();
  EXPECT_GE(names.size(), 22U);
  for (const std::string& name : names) EXPECT_EQ(make_model(name)->name(), name);
}

INSTANTIATE_TEST_SUITE_P(Small, ZooTest,
                         testing::Values(Named{"linear", 10 * 5 + 5}, Named{"counter", 10 * 5 + 5},
                                         Named{"padded", 10 * 20 + 20},
                                         Named{"custom", 100 * 50 + 50 * 50 + 50}));

TEST(ZooTest, UniformMlp_HasLayersOfOneWidth) {
  const auto model = make_model("mlp:4x1024");
  EXPECT_EQ(model->layout().size(), 8);
  EXPECT_EQ(model->input_width(), 1024);
  EXPECT_EQ(model->output_width(), 1024);
}

TEST(ZooTest, UnknownName_IsAUsageErrorThatListsAll) {
  for (const char* name : {"",
                           "mlp",
                           "mlp-huge",
                           "MLP-TINY",
                           "mlp:",
                           "mlp:4",
                           "mlp:x",
                           "mlp:0x8",
                           "mlp:4x0",
                           "mlp:-1x8",
                           "mlp:4x8x",
                           "mlp:4x8 ",
                           "mlp: 4x8",
                           "mlp:4.5x8",
                           "mlp:99999999999999999999x8",
                           "mlp:1x2000000",
                           "Linear",
                           "counter ",
                           "gpt2",
                           "gpt2-",
                           "gpt2-124",
                           "gpt2:64",
                           "linear:4"}) {
    const Error error = error_of([name] { static_cast<void>(make_model(name)); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << name;
    for (const char* known :
         {"mlp-tiny", "mlp-small", "mlp-base", "mlp-large", "mlp:LxW", "linear", "counter",
          "padded", "custom", "mlp-1b", "gpt2-1558m", "gpt2-124m:64", "resnet-tiny", "resnet50"}) {
      EXPECT_TRUE(mentions(error, known)) << error.what();
    }
  }
}

// 2 per multiply-add; forward, weight gradient and (but for the first layer) input gradient.
TEST(ZooTest, Flops_CountTheProductsOfATrainingStep) {
  EXPECT_DOUBLE_EQ(make_model("mlp:1x8")->flops_per_sample(), 2 * 2 * 8 * 8);
  EXPECT_DOUBLE_EQ(make_model("mlp:3x8")->flops_per_sample(), (2 + 3 + 3) * 2 * 8 * 8);
}

}  // namespace
}  // namespace tandem::test
