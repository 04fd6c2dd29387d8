// SPDX-License-Identifier: Apache-2.0
//
// The gradients' formulas of the transformer operations against finite differences. The loss is a
// weighted sum of the results, so that its gradient with respect to them is the weights.
#include <numeric>

#include "tests/kernels/finite_differences.h"
#include "tests/kernels/naive/naive_transformer.h"

namespace tandem {
namespace {

double dot(const Values& a, const Values& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

struct Tables {
  EmbeddingShape shape{.rows = 6, .positions = 3, .vocabulary = 4, .width = 2};
  std::vector<float> ids{1, 3, 1, 0, 1, 3};
  Values tokens = random_values(8, 1);
  Values places = random_values(6, 2);
  Values dy = random_values(12, 3);
  Values y = Values(12);

  double loss() {
    naive_loops::embedding_forward(shape, ids.data(), tokens.data(), places.data(), y.data());
    return dot(y, dy);
  }
};

TEST(EmbeddingGradient, OfBothTables_IsTheFiniteDifference) {
  Tables tables;
  Values dtokens(8);
  Values dplaces(6);
  naive_loops::embedding_backward_tokens(tables.shape, tables.ids.data(), tables.dy.data(),
                                         dtokens.data());
  naive_loops::embedding_backward_places(tables.shape, tables.dy.data(), dplaces.data());
  expect_gradient([&] { return tables.loss(); }, tables.tokens, dtokens);
  expect_gradient([&] { return tables.loss(); }, tables.places, dplaces);
}

// Beside y, the sum itself goes on to what is above.
struct NormOfSum {
  NormShape shape{.rows = 3, .width = 5};
  Values sum = random_values(15, 1);
  Values gain = random_values(5, 2);
  Values bias = random_values(5, 3);
  Values dy = random_values(15, 4);
  Values dabove = random_values(15, 5);
  Values y = Values(15);
  Values mean = Values(3);
  Values rstd = Values(3);
  Values dsum = Values(15);
  Values dgain = Values(5);
  Values dbias = Values(5);

  double loss() {
    naive_loops::layer_norm_forward<double>(
        shape, {sum.data(), gain.data(), bias.data(), y.data(), mean.data(), rstd.data()}, 0.01);
    return dot(y, dy) + (dabove.empty() ? 0 : dot(sum, dabove));
  }

  void backward() {
    loss();
    const naive_loops::NormBackwardArrays<double> arrays{
        .dy = dy.data(),
        .sum = sum.data(),
        .gain = gain.data(),
        .mean = mean.data(),
        .rstd = rstd.data(),
        .dabove = dabove.empty() ? nullptr : dabove.data(),
        .dsum = dsum.data(),
        .dgain = dgain.data(),
        .dbias = dbias.data()};
    naive_loops::layer_norm_backward_input(shape, arrays);
    naive_loops::layer_norm_backward_parameters(shape, arrays);
  }
};

TEST(LayerNormGradient, OfTheSum_IsTheFiniteDifference) {
  NormOfSum norm;
  norm.backward();
  expect_gradient([&] { return norm.loss(); }, norm.sum, norm.dsum);
}

TEST(LayerNormGradient, OfTheSumWithNothingAbove_IsTheFiniteDifference) {
  NormOfSum norm;
  norm.dabove.clear();
  norm.backward();
  expect_gradient([&] { return norm.loss(); }, norm.sum, norm.dsum);
}

TEST(LayerNormGradient, OfGainAndBias_IsTheFiniteDifference) {
  NormOfSum norm;
  norm.backward();
  expect_gradient([&] { return norm.loss(); }, norm.gain, norm.dgain);
  expect_gradient([&] { return norm.loss(); }, norm.bias, norm.dbias);
}

TEST(AttentionGradient, OfQueriesKeysAndValues_IsTheFiniteDifference) {
  const AttentionShape shape{.batch = 2, .positions = 4, .heads = 2, .head_width = 3};
  Values qkv = random_values(shape.rows() * 3 * shape.width(), 1);
  const Values dy = random_values(shape.rows() * shape.width(), 2);
  Values y(dy.size());
  Values log_sums(static_cast<std::size_t>(shape.rows() * shape.heads));
  const auto loss = [&] {
    naive_loops::attention_forward(shape, qkv.data(), y.data(), log_sums.data());
    return dot(y, dy);
  };
  loss();
  Values dqkv(qkv.size());
  naive_loops::attention_backward<double>(
      shape, {qkv.data(), y.data(), dy.data(), log_sums.data(), dqkv.data()});
  expect_gradient(loss, qkv, dqkv);
}

}  // namespace
}  // namespace tandem
