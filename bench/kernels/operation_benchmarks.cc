// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "bench/kernels/operation_registry.h"

namespace tandem::bench {

namespace {

LinearForward forward(DeviceBench& bench, const LinearShape& s) {
  return {.shape = s,
          .x = bench.random(s.batch * s.in, bench.type()),
          .weight = bench.random(s.out * s.in, bench.type()),
          .bias = bench.random(s.out, bench.type()),
          .y = bench.random(s.batch * s.out, bench.type()),
          .activation = Activation::kRelu};
}

LinearForward forward_gelu(DeviceBench& bench, const LinearShape& s) {
  LinearForward op = forward(bench, s);
  op.activation = Activation::kGelu;
  op.before = bench.random(s.batch * s.out, bench.type());
  return op;
}

LinearBackwardInput backward_input(DeviceBench& bench, const LinearShape& s) {
  return {.shape = s,
          .dy = bench.random(s.batch * s.out, bench.type()),
          .weight = bench.random(s.out * s.in, bench.type()),
          .dx = bench.random(s.batch * s.in, bench.type())};
}

LinearBackwardInput backward_input_gelu(DeviceBench& bench, const LinearShape& s) {
  LinearBackwardInput op = backward_input(bench, s);
  op.before = bench.random(s.batch * s.in, bench.type());
  return op;
}

LinearBackwardWeight backward_weight(DeviceBench& bench, const LinearShape& s) {
  return {.shape = s,
          .x = bench.random(s.batch * s.in, bench.type()),
          .dy = bench.random(s.batch * s.out, bench.type()),
          .dweight = bench.random(s.out * s.in),
          .dbias = bench.random(s.out)};
}

template <class Make>
void add_product(const OperationRegistry& registry, const std::string& name, Make make) {
  registry.add(name,
               {.names = {"batch", "in", "out"},
                .arguments = {{64, 1024, 1024}, {256, 1024, 1024}, {512, 1024, 1024}},
                .unit = "gflops"},
               [make](DeviceBench& bench, const benchmark::State& state) {
                 const LinearShape shape{state.range(0), state.range(1), state.range(2)};
                 const double work = static_cast<double>(product_flops(shape)) * 1e-9;
                 return std::pair{make(bench, shape), work};
               });
}

void register_losses_and_updates(const OperationRegistry& registry) {
  const std::int64_t bytes = 4 + 2 * registry.element_bytes();
  registry.add_loop("mse_loss", bytes, [](DeviceBench& b, std::int64_t n) {
    return MseLoss{b.random(n, b.type()), b.random(n), b.random(n, b.type()), b.random(1)};
  });
  registry.add_loop("mse_loss_backward", bytes, [](DeviceBench& b, std::int64_t n) {
    return MseLossBackward{b.random(n, b.type()), b.random(n), b.random(1), b.random(n, b.type())};
  });
  registry.add_loop("weighted_sum", 8, [](DeviceBench& b, std::int64_t n) {
    return WeightedSum{b.random(n), b.random(n), b.random(1)};
  });
  registry.add_loop("sgd_update", 20, [](DeviceBench& b, std::int64_t n) {
    return SgdUpdate{{{b.random(n), b.random(n), b.random(n)}}, 1e-6F, 0.9F};
  });
  for (const auto& [name, decay] : {std::pair{"adam_update", 0.0}, {"adamw_update", 1e-2}}) {
    registry.add_loop(name, 28, [rate = decay](DeviceBench& b, std::int64_t n) {
      // Random numbers become zeros, since the root of a negative second moment would be NaN.
      const auto zeros = [&b](std::int64_t count) {
        const Span<float> values = b.random(count);
        b.enqueue(Scale{.in = values, .out = values, .factor = 0});
        return values;
      };
      return AdamUpdate{
          .tensors = {{.gradient = b.random(n),
                       .first = b.random(n),
                       .second = zeros(n),
                       .weight = b.random(n)}},
          .clock = zeros(AdamClock::kFloats),
          .rates = {
              .learning_rate = 1e-6, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .decay = rate}};
    });
  }
}

void register_arithmetic(const OperationRegistry& registry) {
  registry.add_loop("add", 12, [](DeviceBench& b, std::int64_t n) {
    return Add{b.random(n), b.random(n), b.random(n)};
  });
  registry.add_loop("scale", 8, [](DeviceBench& b, std::int64_t n) {
    return Scale{b.random(n), b.random(n), 0.5F};
  });
  registry.add_loop("add_scalar", 8, [](DeviceBench& b, std::int64_t n) {
    return AddScalar{{b.random(n)}, 1e-6F};
  });
  registry.add_loop("fill", 4, [](DeviceBench& b, std::int64_t n) {
    return Fill{.values = b.random(n), .constant = 1};
  });
  registry.add_loop("fill_random", 4, [](DeviceBench& b, std::int64_t n) {
    return FillRandom{.values = b.random(n), .seed = 7};
  });
}

void register_conversions(const OperationRegistry& registry) {
  for (const auto& [name, type] :
       {std::pair{"to_bf16", DType::kBFloat16}, std::pair{"to_fp16", DType::kFloat16}}) {
    registry.add_loop(name, 6, [to = type](DeviceBench& b, std::int64_t n) {
      return Convert{{{b.random(n), b.random(n, to)}}, 3};
    });
  }
  for (const auto& [name, type] :
       {std::pair{"from_bf16", DType::kBFloat16}, std::pair{"from_fp16", DType::kFloat16}}) {
    registry.add_loop(name, 6, [from = type](DeviceBench& b, std::int64_t n) {
      return Convert{{{b.random(n, from), b.random(n)}}};
    });
  }
}

constexpr std::int64_t kWidth = 512;
constexpr std::int64_t kPositions = 128;
constexpr std::int64_t kClasses = 50257;  // GPT-2's vocabulary

// Whole numbers spread evenly from 0 to 3^9 - 1, below kClasses: numbers of nine digits, each 0, 1
// or 2.
Span<float> whole_numbers(DeviceBench& b, std::int64_t count) {
  const Span<float> numbers = b.random(count);
  const Span<float> digit = b.random(count);
  b.enqueue(Fill{.values = numbers, .constant = (19683.0F - 1) / 2});
  float place = 1;
  for (std::uint64_t i = 0; i < 9; ++i, place *= 3) {
    b.enqueue(FillRandom{
        .values = digit, .seed = i, .distribution = Distribution::kSmallIntegers, .scale = place});
    b.enqueue(Add{.a = numbers, .b = digit, .sum = numbers});
  }
  return numbers;
}

EmbeddingShape tokens_of(std::int64_t elements) {
  return {
      .rows = elements / kWidth, .positions = kPositions, .vocabulary = kClasses, .width = kWidth};
}

EmbeddingForward embedding_forward(DeviceBench& b, std::int64_t n) {
  return {.shape = tokens_of(n),
          .ids = whole_numbers(b, n / kWidth),
          .tokens = b.random(kClasses * kWidth),
          .places = b.random(kPositions * kWidth),
          .y = b.random(n)};
}

EmbeddingBackward embedding_backward(DeviceBench& b, std::int64_t n) {
  return {.shape = tokens_of(n),
          .ids = whole_numbers(b, n / kWidth),
          .dy = b.random(n),
          .dtokens = b.random(kClasses * kWidth),
          .dplaces = b.random(kPositions * kWidth)};
}

LayerNormForward norm_forward(DeviceBench& b, std::int64_t n) {
  return {.shape = {.rows = n / kWidth, .width = kWidth},
          .x = b.random(n),
          .branch = b.random(n, b.type()),
          .gain = b.random(kWidth),
          .bias = b.random(kWidth),
          .sum = b.random(n),
          .y = b.random(n, b.type()),
          .mean = b.random(n / kWidth),
          .rstd = b.random(n / kWidth)};
}

LayerNormBackward norm_backward(DeviceBench& b, std::int64_t n) {
  const bool is_wide = b.type() == DType::kFloat32;
  return {.shape = {.rows = n / kWidth, .width = kWidth},
          .dy = b.random(n, b.type()),
          .sum = b.random(n),
          .gain = b.random(kWidth),
          .mean = b.random(n / kWidth),
          .rstd = b.random(n / kWidth),
          .dabove = b.random(n),
          .dsum = b.random(n),
          .dbranch = b.random(is_wide ? 0 : n, b.type()),
          .dgain = b.random(kWidth),
          .dbias = b.random(kWidth)};
}

// In bf16 with the padding of GPT-2's rows on GPUs.
CrossEntropyLoss cross_entropy(DeviceBench& b, std::int64_t n) {
  const std::int64_t padding = b.type() == DType::kFloat32 ? 0 : 7;
  const std::int64_t all = n / kClasses * (kClasses + padding);
  return {.classes = kClasses,
          .prediction = b.random(all, b.type()),
          .target = whole_numbers(b, n / kClasses),
          .gradient = b.random(all, b.type()),
          .loss = b.random(1),
          .padding = padding};
}

CrossEntropyLossBackward cross_entropy_backward(DeviceBench& b, std::int64_t n) {
  const CrossEntropyLoss with = cross_entropy(b, n);
  return {.classes = kClasses,
          .prediction = with.prediction,
          .target = with.target,
          .loss_gradient = with.loss,
          .gradient = with.gradient,
          .padding = with.padding};
}

AttentionForward attention_forward(DeviceBench& b, const AttentionShape& s) {
  return {.shape = s,
          .qkv = b.random(s.rows() * 3 * s.width(), b.type()),
          .y = b.random(s.rows() * s.width(), b.type()),
          .log_sums = b.random(s.rows() * s.heads)};
}

AttentionBackward attention_backward(DeviceBench& b, const AttentionShape& s) {
  const AttentionForward ahead = attention_forward(b, s);
  b.enqueue(ahead);
  return {.shape = s,
          .qkv = ahead.qkv,
          .y = ahead.y,
          .dy = b.random(s.rows() * s.width(), b.type()),
          .log_sums = ahead.log_sums,
          .dqkv = b.random(s.rows() * 3 * s.width(), b.type())};
}

// Counts attention_flops() `passes` times; half of these FLOPs are masked.
template <class Make>
void add_attention(const OperationRegistry& registry, const std::string& name, double passes,
                   Make make) {
  registry.add(
      name,
      {.names = {"batch", "positions", "heads", "head_width"},
       .arguments = {{1, 128, 12, 64}, {1, 512, 12, 64}, {1, 1024, 12, 64}},
       .unit = "gflops"},
      [make, passes](DeviceBench& bench, const benchmark::State& state) {
        const AttentionShape shape{state.range(0), state.range(1), state.range(2), state.range(3)};
        const double work = passes * static_cast<double>(attention_flops(shape)) * 1e-9;
        return std::pair{make(bench, shape), work};
      });
}

void register_transformer_operations(const OperationRegistry& registry) {
  const std::int64_t narrow = registry.element_bytes();
  const std::vector<std::int64_t> whole{1 << 16, 1 << 22, 3 << 23};  // numbers of samples
  registry.add_loop("embedding_forward", 8, embedding_forward, whole);
  registry.add_loop("embedding_backward", 12, embedding_backward, whole);
  registry.add_loop("layer_norm_forward", 8 + 2 * narrow, norm_forward, whole);
  registry.add_loop("layer_norm_backward", 12 + (narrow == 4 ? 4 : 2 * narrow), norm_backward,
                    whole);
  const std::vector<std::int64_t> rows{4 * kClasses, 256 * kClasses};
  registry.add_loop("cross_entropy_loss", 2 * narrow, cross_entropy, rows);
  registry.add_loop("cross_entropy_loss_backward", 2 * narrow, cross_entropy_backward, rows);
  add_attention(registry, "attention_forward", 1, attention_forward);
  add_attention(registry, "attention_backward", 2, attention_backward);
}

}  // namespace

void register_operations(const OperationRegistry& registry) {
  add_product(registry, "linear_forward", forward);
  add_product(registry, "linear_forward_gelu", forward_gelu);
  add_product(registry, "linear_backward_input", backward_input);
  add_product(registry, "linear_backward_input_gelu", backward_input_gelu);
  add_product(registry, "linear_backward_weight", backward_weight);
  const std::int64_t bytes = 3 * registry.element_bytes();
  registry.add_loop("relu_backward", bytes, [](DeviceBench& b, std::int64_t n) {
    return ReluBackward{b.random(n, b.type()), b.random(n, b.type())};
  });
  register_losses_and_updates(registry);
  register_arithmetic(registry);
  register_conversions(registry);
  register_transformer_operations(registry);
  register_image_operations(registry);
}

}  // namespace tandem::bench
