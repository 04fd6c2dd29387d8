// SPDX-License-Identifier: Apache-2.0
//
// On the host the linear operations stand next to bare sgemm calls of the same products - in bf16
// too, where the share is that of fp32's speed - and the loops over memory next to a copy.
#include "bench/kernels/operation_benchmarks.h"

#include <cstring>
#include <string>
#include <utility>

#include "bench/kernels/comparison.h"
#include "common/kernels/host/bare_product.h"
#include "common/kernels/host/naive.h"

namespace tandem::bench {
namespace {

using benchmark::State;

LinearForward forward(DeviceBench& bench, const LinearShape& s, DType type) {
  return {.shape = s,
          .x = bench.random(s.batch * s.in, type),
          .weight = bench.random(s.out * s.in, type),
          .bias = bench.random(s.out, type),
          .y = bench.random(s.batch * s.out, type),
          .activation = Activation::kRelu};
}

LinearBackwardInput backward_input(DeviceBench& bench, const LinearShape& s, DType type) {
  return {.shape = s,
          .dy = bench.random(s.batch * s.out, type),
          .weight = bench.random(s.out * s.in, type),
          .dx = bench.random(s.batch * s.in, type)};
}

LinearBackwardWeight backward_weight(DeviceBench& bench, const LinearShape& s, DType type) {
  return {.shape = s,
          .x = bench.random(s.batch * s.in, type),
          .dy = bench.random(s.batch * s.out, type),
          .dweight = bench.random(s.out * s.in),
          .dbias = bench.random(s.out)};
}

LinearShape shape_of(const State& state) {
  return {.batch = state.range(0), .in = state.range(1), .out = state.range(2)};
}

template <class Make>
void compare_product(State& state, DeviceBench& bench, Make make) {
  const auto op = make(bench, shape_of(state), bench.type());
  const double work = kCalls * static_cast<double>(product_flops(op.shape)) * 1e-9;
  Comparison comparison{.operation = [&] { repeat([&] { bench.enqueue(op); }); },
                        .operation_work = work,
                        .yardstick_work = work,
                        .unit = "gflops"};
  if (bench.is_host()) {
    const auto wide = make(bench, op.shape, DType::kFloat32);
    comparison.yardstick = [&bench, wide] {
      repeat([&] { bench.enqueue_bare([wide] { host::bare_product(wide); }); });
    };
  }
  compare(state, bench, comparison);
}

// An operation that moves `bytes` per element, next to a copy (8 bytes per element).
template <class Op>
void compare_to_copy(State& state, DeviceBench& bench, const Op& op, int bytes) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const double work = kCalls * static_cast<double>(count) * 1e-9;
  Comparison comparison{.operation = [&] { repeat([&] { bench.enqueue(op); }); },
                        .operation_work = work * bytes,
                        .yardstick_work = work * 8,
                        .unit = "GB/s"};
  if (bench.is_host()) {
    const Span<float> from = bench.random(state.range(0));
    const Span<float> to = bench.random(state.range(0));
    comparison.yardstick = [&bench, from, to, count] {
      repeat([&] {
        bench.enqueue_bare([=] { std::memcpy(to.data(), from.data(), count * sizeof(float)); });
      });
    };
  }
  compare(state, bench, comparison);
}

// An operation over n elements, and the bytes that it moves for each.
template <class Make>
struct Loop {
  const char* name;
  int bytes;
  Make make;
};

class Registry {
 public:
  Registry(Platform& platform, Precision precision) : platform_(platform), precision_(precision) {}

  template <class Make>
  void add_product(const std::string& name, Make make) const {
    benchmark::RegisterBenchmark(name.c_str(),
                                 [*this, make](State& state) {
                                   DeviceBench bench(platform_, precision_);
                                   compare_product(state, bench, make);
                                 })
        ->ArgNames({"batch", "in", "out"})
        ->ArgsProduct({{64, 256, 512}, {1024}, {1024}})
        ->Apply(manual);
    if (!is_host()) return;
    benchmark::RegisterBenchmark(("naive/" + name).c_str(),
                                 [*this, make](State& state) {
                                   DeviceBench bench(platform_, precision_);
                                   const auto op = make(bench, shape_of(state), bench.type());
                                   const double work =
                                       static_cast<double>(product_flops(op.shape)) * 1e-9;
                                   time_plain(
                                       state, [&] { naive(op); }, work, "gflops");
                                 })
        ->ArgNames({"batch", "in", "out"})
        ->Args({64, 256, 256})
        ->Apply(manual);
  }

  template <class Make>
  void add_loop(const Loop<Make>& loop) const {
    benchmark::RegisterBenchmark(loop.name,
                                 [*this, loop](State& state) {
                                   DeviceBench bench(platform_, precision_);
                                   compare_to_copy(state, bench, loop.make(bench, state.range(0)),
                                                   loop.bytes);
                                 })
        ->ArgName("count")
        ->Arg(1 << 16)
        ->Arg(1 << 22)
        ->Arg(24'000'000)
        ->Apply(manual);
    if (!is_host()) return;
    benchmark::RegisterBenchmark((std::string("naive/") + loop.name).c_str(),
                                 [*this, loop](State& state) {
                                   DeviceBench bench(platform_, precision_);
                                   const auto op = loop.make(bench, state.range(0));
                                   const double work =
                                       static_cast<double>(state.range(0)) * loop.bytes * 1e-9;
                                   time_plain(
                                       state, [&] { naive(op); }, work, "GB/s");
                                 })
        ->ArgName("count")
        ->Arg(1 << 16)
        ->Apply(manual);
  }

 private:
  static void manual(benchmark::internal::Benchmark* b) {
    b->UseManualTime()->Unit(benchmark::kMicrosecond);
  }
  [[nodiscard]] bool is_host() const { return platform_.backend() == Backend::kHost; }

  Platform& platform_;
  const Precision precision_;
};

void register_losses_and_updates(const Registry& registry) {
  registry.add_loop(Loop{"mse_loss", 12, [](DeviceBench& b, std::int64_t n) {
                           return MseLoss{b.random(n), b.random(n), b.random(n), b.random(1)};
                         }});
  registry.add_loop(
      Loop{"mse_loss_backward", 12, [](DeviceBench& b, std::int64_t n) {
             return MseLossBackward{b.random(n), b.random(n), b.random(1), b.random(n)};
           }});
  registry.add_loop(Loop{"weighted_sum", 8, [](DeviceBench& b, std::int64_t n) {
                           return WeightedSum{b.random(n), b.random(n), b.random(1)};
                         }});
  registry.add_loop(Loop{"sgd_update", 20, [](DeviceBench& b, std::int64_t n) {
                           return SgdUpdate{b.random(n), b.random(n), b.random(n), 1e-6F, 0.9F};
                         }});
  registry.add_loop(Loop{
      "adam_update", 28, [](DeviceBench& b, std::int64_t n) {
        // A second moment of squares: no root of a negative number.
        const Span<float> second = b.random(n);
        b.enqueue(Scale{.in = second, .out = second, .factor = 0});
        return AdamUpdate{b.random(n), b.random(n), second, b.random(n), 1e-6, 0.9, 0.999, 1e-8, 1};
      }});
}

void register_arithmetic(const Registry& registry) {
  registry.add_loop(Loop{"add", 12, [](DeviceBench& b, std::int64_t n) {
                           return Add{b.random(n), b.random(n), b.random(n)};
                         }});
  registry.add_loop(Loop{"subtract", 12, [](DeviceBench& b, std::int64_t n) {
                           return Subtract{b.random(n), b.random(n), b.random(n)};
                         }});
  registry.add_loop(Loop{"scale", 8, [](DeviceBench& b, std::int64_t n) {
                           return Scale{b.random(n), b.random(n), 0.5F};
                         }});
  registry.add_loop(Loop{"add_scalar", 8, [](DeviceBench& b, std::int64_t n) {
                           return AddScalar{b.random(n), 1e-6F};
                         }});
  registry.add_loop(Loop{"fill_random", 4, [](DeviceBench& b, std::int64_t n) {
                           return FillRandom{.values = b.random(n), .seed = 7};
                         }});
  // Rows of 4 such as PowerSGD makes: each is read and written once, and once per row before it.
  registry.add_loop(Loop{"orthogonalise", 8, [](DeviceBench& b, std::int64_t n) {
                           return Orthogonalise{.rows = 4, .matrix = b.random(n)};
                         }});
}

void register_conversions(const Registry& registry) {
  for (const auto& [name, type] :
       {std::pair{"to_bf16", DType::kBFloat16}, std::pair{"to_fp16", DType::kFloat16}}) {
    registry.add_loop(Loop{name, 6, [type = type](DeviceBench& b, std::int64_t n) {
                             return Convert{b.random(n), b.random(n, type), 3};
                           }});
  }
  for (const auto& [name, type] :
       {std::pair{"from_bf16", DType::kBFloat16}, std::pair{"from_fp16", DType::kFloat16}}) {
    registry.add_loop(Loop{name, 6, [type = type](DeviceBench& b, std::int64_t n) {
                             return Convert{b.random(n, type), b.random(n)};
                           }});
  }
}

}  // namespace

void register_operations(Platform& platform, Precision precision) {
  const Registry registry(platform, precision);
  registry.add_product("linear_forward", forward);
  registry.add_product("linear_backward_input", backward_input);
  registry.add_product("linear_backward_weight", backward_weight);
  const int bytes = static_cast<int>(3 * size_of(storage_of(precision)));
  registry.add_loop(Loop{"relu_backward", bytes, [](DeviceBench& b, std::int64_t n) {
                           return ReluBackward{b.random(n, b.type()), b.random(n, b.type())};
                         }});
  register_losses_and_updates(registry);
  register_arithmetic(registry);
  register_conversions(registry);
}

}  // namespace tandem::bench
