// SPDX-License-Identifier: Apache-2.0
//
// Operations without products of matrices; cuda_tolerances.h says how far each may be from the
// naive version.
#pragma once

#include "tests/kernels/cuda_parity.h"
#include "tests/support/errors.h"

namespace tandem::test {

template <class Backend>
class CudaElementwiseParity : public CudaParity<Backend> {
 protected:
  template <class T>
  void expect_mse_losses_agree(std::int64_t count, double of_gradient) {
    auto prediction = this->template random<T>(count);
    auto target = this->random(count);
    auto gradient = this->template zeros<T>(count);
    auto loss = this->zeros(1);
    for (const bool with_gradient : {true, false}) {
      this->run_on_both([&](Side s) {
        return MseLoss{.prediction = prediction.on(s),
                       .target = target.on(s),
                       .gradient = with_gradient ? gradient.on(s) : Span<T>{},
                       .loss = loss.on(s)};
      });
      expect_share(gradient, of_gradient, "gradient");
      expect_share(loss, share::kMseLoss, "loss");
    }
    auto loss_gradient = this->random(1);
    this->run_on_both([&](Side s) {
      return MseLossBackward{.prediction = prediction.on(s),
                             .target = target.on(s),
                             .loss_gradient = loss_gradient.on(s),
                             .gradient = gradient.on(s)};
    });
    expect_share(gradient, of_gradient, "gradient of a loss that is added to others");
  }
};

TYPED_TEST_SUITE_P(CudaElementwiseParity);

TYPED_TEST_P(CudaElementwiseParity, ReluBackward_HasTheSameBits) {
  this->for_counts([&](std::int64_t count) {
    auto y = this->random(count, Distribution::kSmallIntegers);
    auto dy = this->random(count);
    this->run_on_both([&](Side s) { return ReluBackward{.y = y.on(s), .dy = dy.on(s)}; });
    expect_same(dy, "fp32");
    auto narrow_y = this->template random<BFloat16>(count, Distribution::kSmallIntegers);
    auto narrow_dy = this->template random<BFloat16>(count);
    this->run_on_both(
        [&](Side s) { return ReluBackward{.y = narrow_y.on(s), .dy = narrow_dy.on(s)}; });
    expect_same(narrow_dy, "bf16");
  });
}

TYPED_TEST_P(CudaElementwiseParity, ReluBackward_KeepsTheGradientAtNan) {
  auto y = this->twin(std::vector<float>{-1, 0, 2, std::nanf("")});
  auto dy = this->twin(std::vector<float>{5, 6, 7, 8});
  this->run(ReluBackward{.y = y.on(Side::kDevice), .dy = dy.on(Side::kDevice)});
  EXPECT_EQ(dy.of_device(), (std::vector<float>{0, 0, 7, 8}));
}

TYPED_TEST_P(CudaElementwiseParity, Scale_HasTheSameBits_AlsoInPlace) {
  this->for_counts([&](std::int64_t count) {
    auto in = this->random(count);
    auto out = this->zeros(count);
    this->run_on_both(
        [&](Side s) { return Scale{.in = in.on(s), .out = out.on(s), .factor = 0.3F}; });
    this->run_on_both(
        [&](Side s) { return Scale{.in = in.on(s), .out = in.on(s), .factor = 0.3F}; });
    expect_same(out, "out of place");
    expect_same(in, "in place");
  });
}

TYPED_TEST_P(CudaElementwiseParity, AddAndAddScalar_HaveTheSameBits_AlsoInPlace) {
  this->for_counts([&](std::int64_t count) {
    auto a = this->random(count);
    auto b = this->random(count);
    auto out = this->zeros(count);
    this->run_on_both([&](Side s) { return Add{.a = a.on(s), .b = b.on(s), .sum = out.on(s)}; });
    expect_same(out, "sum");
    this->run_on_both([&](Side s) { return Add{.a = a.on(s), .b = b.on(s), .sum = a.on(s)}; });
    expect_same(a, "sum in place");
    this->run_on_both([&](Side s) { return AddScalar{.tensors = {a.on(s)}, .constant = 0.3F}; });
    expect_same(a, "with a constant");
  });
}

TYPED_TEST_P(CudaElementwiseParity, Optimizers_AgreeWithNaive) {
  this->for_counts([&](std::int64_t count) {
    auto gradient = this->random(count);
    auto first = this->random(count);
    auto second = this->random(count, Distribution::kSmallIntegers);
    auto weight = this->random(count);
    this->run_on_both([&](Side s) {
      return SgdUpdate{.tensors = {{gradient.on(s), first.on(s), weight.on(s)}},
                       .learning_rate = 0.01F,
                       .momentum = 0.9F};
    });
    expect_share(first, share::kUpdate, "velocity");
    expect_share(weight, share::kUpdate, "weight after sgd");
    // A second moment is never negative.
    this->run_on_both([&](Side s) { return ReluBackward{.y = second.on(s), .dy = second.on(s)}; });
    auto clock = this->zeros(AdamClock::kFloats);
    for (int step = 1; step < 4; ++step) {
      this->run_on_both([&](Side s) {
        return AdamUpdate{.tensors = {{gradient.on(s), first.on(s), second.on(s), weight.on(s)}},
                          .clock = clock.on(s),
                          .rates = {.learning_rate = 1e-3,
                                    .beta1 = 0.9,
                                    .beta2 = 0.999,
                                    .epsilon = 1e-8,
                                    .decay = step == 3 ? 0.01 : 0}};
      });
      expect_share(clock, share::kUpdate, "clock");
      expect_share(first, share::kUpdate, "first moment");
      expect_share(second, share::kUpdate, "second moment");
      expect_share(weight, share::kUpdate, "weight after adam");
    }
  });
}

// More tensors than one launch holds, of sizes at and beside packs and blocks, each second one at
// an address that packs cannot have: calls body(first, count) for each of them.
inline void for_many_tensors(const std::function<void(std::int64_t, std::int64_t)>& body) {
  std::int64_t at = 0;
  for (int i = 0; i < 250; ++i) {
    const std::int64_t counts[] = {1, 3, 4, 0, 1023, 1024, 1025, 4099};
    const std::int64_t count = counts[i % 8];
    body(at, count);
    at += 4 * (count / 4 + 1) + (i % 2 == 0 ? 1 : 3);
  }
}

TYPED_TEST_P(CudaElementwiseParity, UpdateOfManyTensors_AgreesWithNaive) {
  auto gradient = this->random(400'000);
  auto state = this->random(400'000);
  auto weight = this->random(400'000);
  this->run_on_both([&](Side s) {
    SgdUpdate update{.learning_rate = 0.01F, .momentum = 0.9F};
    for_many_tensors([&](std::int64_t at, std::int64_t count) {
      update.tensors.push_back({gradient.on(s).subspan(at, count), state.on(s).subspan(at, count),
                                weight.on(s).subspan(at, count)});
    });
    return update;
  });
  expect_share(state, share::kUpdate, "velocity");
  expect_share(weight, share::kUpdate, "weight");
}

TYPED_TEST_P(CudaElementwiseParity, ConvertAndAddScalarOfManyTensors_HaveTheSameBits) {
  auto wide = this->random(400'000);
  auto narrow = this->template zeros<BFloat16>(400'000);
  this->run_on_both([&](Side s) {
    Convert casts;
    for_many_tensors([&](std::int64_t at, std::int64_t count) {
      casts.tensors.push_back({wide.on(s).subspan(at, count), narrow.on(s).subspan(at, count)});
    });
    return casts;
  });
  expect_same(narrow, "narrowed");
  this->run_on_both([&](Side s) {
    AddScalar added{.constant = 0.3F};
    for_many_tensors([&](std::int64_t at, std::int64_t count) {
      added.tensors.push_back(wide.on(s).subspan(at, count));
    });
    return added;
  });
  expect_same(wide, "with a constant");
}

TYPED_TEST_P(CudaElementwiseParity, FillRandom_HasTheSameBits_FromAnywhereInTheSequence) {
  for (const Distribution distribution : {Distribution::kUniform, Distribution::kSmallIntegers}) {
    for (const std::uint64_t first : {0ULL, 1ULL, 2ULL, 3ULL, 4ULL, 13ULL, (1ULL << 36) + 5}) {
      for (const std::int64_t count : {0, 1, 2, 3, 4, 5, 7, 8, 1000, 70'001}) {
        auto values = this->zeros(count);
        this->run_on_both([&](Side s) {
          return FillRandom{.values = values.on(s),
                            .seed = 42 + (std::uint64_t{7} << 40),
                            .first = first,
                            .distribution = distribution,
                            .scale = 0.7F};
        });
        expect_same(values, "first " + std::to_string(first) + ", count " + std::to_string(count));
      }
    }
  }
}

TYPED_TEST_P(CudaElementwiseParity, Fill_HasTheSameBits) {
  this->for_counts([&](std::int64_t count) {
    auto values = this->random(count);
    this->run_on_both([&](Side s) { return Fill{.values = values.on(s), .constant = 0.3F}; });
    expect_same(values, "filled");
  });
}

TYPED_TEST_P(CudaElementwiseParity, Convert_HasTheSameBits) {
  this->for_counts([&](std::int64_t count) {
    for (const float divisor : {1.0F, 3.0F}) {
      this->template expect_conversions_agree<BFloat16>(count, divisor);
      this->template expect_conversions_agree<Float16>(count, divisor);
    }
  });
}

TYPED_TEST_P(CudaElementwiseParity, MseLoss_AgreesWithNaive) {
  this->for_counts([&](std::int64_t count) {
    if (count == 0) return;  // there is no mean of nothing
    this->template expect_mse_losses_agree<float>(count, share::kGradient);
    this->template expect_mse_losses_agree<BFloat16>(count, share::kBf16Rounding);
  });
}

TYPED_TEST_P(CudaElementwiseParity, WeightedSum_AgreesAndIsZeroOfNothing) {
  this->for_counts([&](std::int64_t count) {
    auto values = this->random(count, Distribution::kSmallIntegers);
    auto weights = this->random(count, Distribution::kSmallIntegers);
    auto sum = this->twin(std::vector<float>{99});
    this->run_on_both([&](Side s) {
      return WeightedSum{.values = values.on(s), .weights = weights.on(s), .sum = sum.on(s)};
    });
    expect_same(sum, "exact sum");
  });
}

TYPED_TEST_P(CudaElementwiseParity, Sums_AreTheSameBitsEveryTime) {
  auto prediction = this->random(700'003);
  auto target = this->random(700'003);
  auto loss = this->zeros(1);
  const MseLoss op{.prediction = prediction.on(Side::kDevice),
                   .target = target.on(Side::kDevice),
                   .loss = loss.on(Side::kDevice)};
  this->run(op);
  const float first = loss.of_device()[0];
  for (int repeat = 0; repeat < 5; ++repeat) {
    this->run(op);
    EXPECT_EQ(loss.of_device()[0], first);
  }
}

TYPED_TEST_P(CudaElementwiseParity, OnAnotherDevicesMemory_NamesBothDevices) {
  auto here = this->zeros(4);
  const auto there = this->device(1).allocate(Bytes{16});
  const Error error = error_of([&] {
    this->operations().enqueue(this->stream(), Add{.a = here.on(Side::kDevice),
                                                   .b = there->template as<float>(4),
                                                   .sum = here.on(Side::kDevice)});
  });
  EXPECT_EQ(error.kind(), ErrorKind::kLogic);
  EXPECT_NE(std::string(error.what()).find("cuda:1"), std::string::npos) << error.what();
}

REGISTER_TYPED_TEST_SUITE_P(CudaElementwiseParity, ReluBackward_HasTheSameBits,
                            ReluBackward_KeepsTheGradientAtNan, Scale_HasTheSameBits_AlsoInPlace,
                            AddAndAddScalar_HaveTheSameBits_AlsoInPlace, Optimizers_AgreeWithNaive,
                            UpdateOfManyTensors_AgreesWithNaive,
                            ConvertAndAddScalarOfManyTensors_HaveTheSameBits,
                            FillRandom_HasTheSameBits_FromAnywhereInTheSequence,
                            Fill_HasTheSameBits, Convert_HasTheSameBits, MseLoss_AgreesWithNaive,
                            WeightedSum_AgreesAndIsZeroOfNothing, Sums_AreTheSameBitsEveryTime,
                            OnAnotherDevicesMemory_NamesBothDevices);

}  // namespace tandem::test
