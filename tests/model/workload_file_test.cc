// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "common/model/workload.h"
#include "tests/support/errors.h"
#include "tests/support/workloads.h"

namespace tandem::test {
namespace {

TEST(WorkloadFileTest, ByFlops_IsRead) {
  const Workload workload = test::workload("by-flops");
  EXPECT_EQ(workload.name, "by-flops");
  EXPECT_EQ(workload.modules, 4);
  EXPECT_EQ(workload.input_width, 8);
  EXPECT_EQ(workload.objective.kind, ObjectiveKind::kMeanSquaredError);
  EXPECT_EQ(workload.objective.target_width, 4);
  ASSERT_EQ(workload.layers.size(), 3U);
  EXPECT_EQ(workload.layers[0].backward.operations, 5);
  EXPECT_EQ(workload.layers[0].backward.flops, 80000);
  EXPECT_EQ(workload.layers[0].calls, 4) << "as many as forward has operations";
  EXPECT_EQ(workload.layers[2].calls, 2);
  ASSERT_EQ(workload.tensors.size(), 4U);
  EXPECT_EQ(workload.tensors[2].shape, Shape({16, 8}));
  EXPECT_EQ(workload.tensors[2].layer, 0U);
  EXPECT_EQ(workload.tensors[2].registered, 0U);
  ASSERT_EQ(workload.buffers.size(), 1U);
}

TEST(WorkloadFileTest, Classes_AreRead) {
  const Workload workload = test::workload("tokens");
  EXPECT_EQ(workload.objective.kind, ObjectiveKind::kCrossEntropy);
  EXPECT_EQ(workload.objective.target_width, 6);
  EXPECT_EQ(workload.layers[1].forward.flops, 9216);
  EXPECT_EQ(workload.tensors[0].registered, 1U) << "by default in the order of forward";
}

TEST(WorkloadFileTest, ListedKernels_AreOfAnyBatch) {
  const Workload workload = test::workload("listed");
  EXPECT_EQ(size_at(workload.held.value(), 10), 4096 + 10 * 512);
  EXPECT_EQ(workload.output_type, DType::kBFloat16) << "as large as fp16";
  const LayerPass& pass = workload.layers[0].forward;
  ASSERT_EQ(pass.kernels.size(), 2U);
  const ListedKernel product = kernel_at(pass.kernels[0], 6);
  EXPECT_EQ(product.kind, KernelKind::kProduct);
  EXPECT_EQ(product.type, NumberType::kFp16);
  EXPECT_EQ(product.layout, KernelLayout::kNone);
  EXPECT_EQ(product.sizes, (decltype(product.sizes){1, 6, 16, 8, 256 + 6 * 48}));
  EXPECT_EQ(kernel_at(pass.kernels[1], 6).count, 2);
  EXPECT_EQ(workload.layers[1].forward.kernels[0].layout, KernelLayout::kStrided);
  EXPECT_EQ(size_at({.fixed = -100, .per_sample = 10}, 3), 0) << "below zero";
}

struct Mistake {
  const char* file;
  const char* part;  // of the file, replaced
  const char* by;
  const char* said;
};

class WorkloadMistake : public testing::TestWithParam<Mistake> {};

TEST_P(WorkloadMistake, IsAUsageErrorOfOneLine_ThatNamesThePlace) {
  const auto& [file, part, by, said] = GetParam();
  std::string text = workload_text(file);
  const std::size_t at = text.find(part);
  ASSERT_NE(at, std::string::npos) << part;
  text.replace(at, std::string(part).size(), by);
  const Error error = error_of([&] { static_cast<void>(parse_workload(text, "own.json")); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(error, "own.json: ")) << error.what();
  EXPECT_TRUE(mentions(error, said)) << error.what();
  EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
}

constexpr const char* kFlops = "by-flops";
constexpr const char* kTokens = "tokens";
constexpr const char* kListed = "listed";

INSTANTIATE_TEST_SUITE_P(
    Document, WorkloadMistake,
    testing::Values(
        Mistake{kFlops, "{", "", "it is not valid JSON, from line 2, column 20; mend it"},
        Mistake{kFlops, "\"modules\": 4,", "\"modules\": 4, \"name\": \"again\",",
                "key \"name\" stands twice in one object, again in line 5"},
        Mistake{kFlops, "\"modules\": 4", "\"modules\": 4e999", "line 5, column 18: a number is"},
        Mistake{kFlops, "\"tandem_workload\": 1,", "", "'tandem_workload' is missing"},
        Mistake{kFlops, "workload\": 1", "workload\": 3", "version 3 is newer than 2"},
        Mistake{kFlops, "workload\": 1", "workload\": \"1\"",
                "tandem_workload: \"1\": use a whole"},
        Mistake{kFlops, "\"modules\"", "\"module\"", "'module' (did you mean 'modules'?)"},
        Mistake{kFlops, "\"modules\"", "\"quux\"", "'quux'; known are tandem_workload, name"},
        Mistake{kFlops, "\"by-flops\"", "\"\"", "name: \"\": use a text of 1 to 200"},
        Mistake{kFlops, "\"by-flops\"", "7", "name: 7 stands where a text has to be"},
        Mistake{kFlops, "\"by-flops\"", "\"a\\nb\"", "printable"},
        Mistake{kFlops, "{\"width\": 8}", "8", "input: 8 stands where an object has to be"},
        Mistake{kFlops, "\"width\": 8", "\"width\": 0",
                "input.width: 0: use a whole number from 1"},
        Mistake{kFlops, "\"width\": 8", "\"width\": 1.5", "input.width: 1.5: use a whole"},
        Mistake{kFlops, "\"width\": 8", "\"width\": 18446744073709551615", "input.width"},
        Mistake{kFlops, "{\"width\": 4}", "{\"width\": 4, \"classes\": 2}", "output.classes"},
        Mistake{kFlops, "{\"width\": 4}", "{\"width\": 4, \"objective\": \"hinge\"}",
                "output.objective: unknown objective 'hinge'"},
        Mistake{kTokens, "\"width\": 60", "\"width\": 61", "no whole rows of 10 classes"},
        Mistake{kTokens, ", \"objective\": \"cross-entropy\"", ", \"objective\": \"squared-error\"",
                "squared error has no classes"}));

INSTANTIATE_TEST_SUITE_P(
    Tensors, WorkloadMistake,
    testing::Values(
        Mistake{kFlops, "\"head.bias\"", "\"head.weight\"", "tensors[1].name: a second tensor"},
        Mistake{kFlops, "\"shape\": [4]", "\"shape\": [-4]",
                "tensors[0].shape[0]: -4: use a whole"},
        Mistake{kFlops, "\"shape\": [4]", "\"shape\": [1000000, 10000000]",
                "tensors[0].shape: a tensor of more than"},
        Mistake{kFlops, "\"shape\": [4]", "\"shape\": 4",
                "tensors[0].shape: 4 stands where a list"},
        Mistake{kFlops, "\"layer\": \"head\"", "\"layer\": \"hat\"",
                "tensors[0].layer: there is no layer 'hat'"},
        Mistake{kFlops, "\"layer\": \"head\", ", "", "tensors[0]: key 'layer' is missing"},
        Mistake{kFlops, "\"layer\": \"head\"", "\"layer\": \"stem\"", "backward is past it"},
        Mistake{kFlops, ", \"registered\": 3", "", "give all or none"},
        Mistake{kFlops, "\"registered\": 3", "\"registered\": 2", "number the tensors from 0 to 3"},
        Mistake{kFlops, "\"registered\": 3", "\"registered\": 4", "number the tensors from 0 to 3"},
        Mistake{kFlops, "\"norm.mean\", \"shape\": [16]", "\"m\", \"shape\": [1.5]",
                "buffers[0].shape[0]: 1.5"}));

INSTANTIATE_TEST_SUITE_P(
    Layers, WorkloadMistake,
    testing::Values(
        Mistake{kFlops, "\"name\": \"norm\"", "\"name\": \"stem\"",
                "layers[1].name: a second layer"},
        Mistake{kFlops, "\"flops\": 40000", "\"flops\": -1", "layers[0].forward.flops: -1: use a"},
        Mistake{kFlops, "\"flops\": 40000", "\"flops\": 1e30", "layers[0].forward.flops"},
        Mistake{kFlops, "\"flops\": 40000", "\"flops\": 2e15", "use a number from 0 to 1e+15"},
        Mistake{kFlops, "\"operations\": 4, \"flops\": 40000",
                "\"operations\": 1000000, \"flops\": 1",
                "layers[0]: too many operations and calls"},
        Mistake{kFlops, "\"flops\": 40000", "\"flop\": 1", "did you mean 'flops'?"},
        Mistake{kFlops, ", \"flops\": 40000", "", "layers[0].forward: key 'flops' is missing"},
        Mistake{kFlops, "\"operations\": 4", "\"operations\": 1e9", "layers[0].forward.operations"},
        Mistake{kTokens, "\"flops\": 512", "\"products\": {}", "unknown key 'products'"}));

INSTANTIATE_TEST_SUITE_P(
    Kernels, WorkloadMistake,
    testing::Values(
        Mistake{kListed, "[\"copy\"", "[\"conv\"",
                "kernels[0][0]: there is no such kind of kernel"},
        Mistake{kListed, "\"copy\", \"fp32\"", "\"copy\", \"fp8\"",
                "there is no such type: use one"},
        Mistake{kListed, "\"strided\"", "\"nhwc\"", "there is no such layout: use one of -, first"},
        Mistake{kListed, "[[0, 64], 2], 1]", "[[0, 64]], 1]",
                "the sizes of this kind are bytes, tensors"},
        Mistake{kListed, "[[0, 64], 2], 1]", "[[0, 64], -2], 1]",
                "kernels[0][3][1]: -2: use a number"},
        Mistake{kListed, "[[0, 64], 2], 1]", "[[0], 2], 1]", "a size is a number, or [fixed, per"},
        Mistake{kListed, "2], 1]]}", "2], 0]]}", "kernels[0][4]: 0: use a whole number from 1"},
        Mistake{kListed, "2], 1]]}", "2]]]}", "a kernel is [kind, type, layout, sizes, count]"},
        Mistake{kListed, "\"type\": \"fp16\"", "\"type\": \"fp64\"",
                "output.type: outputs of this type are not simulated: use fp32, fp16 or bf16"},
        Mistake{kListed, "[4096, 512]", "\"much\"", "held_bytes: \"much\""}));

TEST(WorkloadFileTest, ListsThatNoModelHas_AreRefused) {
  std::string zeros = "[0";
  for (int i = 0; i < 100'000; ++i) zeros += ",0";
  for (const char* list : {"\"layers\": ", "\"tensors\": ", "\"buffers\": "}) {
    std::string text = workload_text("by-flops");
    const std::size_t from = text.find(list) + std::string(list).size();
    text.replace(from, text.find("\n  ]", from) + 4 - from, zeros + "]");
    const Error error = error_of([&] { static_cast<void>(parse_workload(text, "own.json")); });
    EXPECT_TRUE(mentions(error, "a list of 100001: use 100000 or fewer")) << error.what();
  }
}

TEST(WorkloadFileTest, AnyPrefixOfAFile_IsAUsageError) {
  const std::string text = workload_text("tokens");
  const std::size_t end = text.find_last_of('}');
  for (std::size_t size = 0; size <= end; ++size) {
    const Error error = error_of(
        [&] { static_cast<void>(parse_workload(std::string_view(text).substr(0, size), "cut")); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << size;
  }
}

}  // namespace
}  // namespace tandem::test
