// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/host/host_operations.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <future>

#include "common/runtime/host/host_stream.h"
#include "tests/kernels/operations_fixture.h"
#include "tests/support/errors.h"

namespace tandem {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class HostOperations : public OperationsFixture {
 public:
  LinearForward forward(std::int64_t batch, Activation activation = Activation::kNone) {
    return {.shape = {.batch = batch, .in = 8, .out = 4},
            .x = random(batch * 8),
            .weight = random(4 * 8),
            .bias = random(4),
            .y = zeros(batch * 4),
            .activation = activation};
  }

  LinearForward square_forward(std::int64_t size) {
    const auto integers = Distribution::kSmallIntegers;
    return {.shape = {.batch = size, .in = size, .out = size},
            .x = random(size * size, integers),
            .weight = random(size * size, integers),
            .bias = random(size, integers),
            .y = zeros(size * size)};
  }
};

TEST_F(HostOperations, OnAnotherDevicesMemory_NamesBothDevices) {
  LinearForward product = forward(2);
  product.weight = zeros(4 * 8, 1);
  const std::string text = refusal_of(product);
  EXPECT_THAT(text, AllOf(HasSubstr("linear_forward"), HasSubstr("host:0"), HasSubstr("host:1")));

  const Add add{.a = zeros(4), .b = zeros(4, 1), .sum = zeros(4)};
  const std::string loop = refusal_of(add);
  EXPECT_THAT(loop, AllOf(HasSubstr("add"), HasSubstr("host:0"), HasSubstr("host:1")));
}

TEST_F(HostOperations, WithAWrongSize_NamesTheOperand) {
  LinearForward product = forward(2);
  product.bias = zeros(3);
  EXPECT_THAT(refusal_of(product), HasSubstr("bias"));
  const Scale scale{.in = zeros(3), .out = zeros(4)};
  EXPECT_THAT(refusal_of(scale), HasSubstr("out"));
  const MseLossBackward loss{
      .prediction = zeros(3), .target = zeros(3), .loss_gradient = zeros(2), .gradient = zeros(3)};
  EXPECT_THAT(refusal_of(loss), HasSubstr("loss_gradient"));
}

TEST_F(HostOperations, OfUpdates_AreCheckedTensorByTensor) {
  AdamUpdate adam{.tensors = {{zeros(1), zeros(1), zeros(1), zeros(1)}}};
  EXPECT_THAT(refusal_of(adam), HasSubstr("clock"));
  adam.clock = zeros(AdamClock::kFloats);
  adam.tensors.push_back({zeros(2), zeros(2), zeros(1), zeros(2)});
  EXPECT_THAT(refusal_of(adam), HasSubstr("second"));
  const SgdUpdate sgd{.tensors = {{zeros(1), zeros(1), zeros(1)}, {zeros(2), zeros(2), zeros(3)}}};
  EXPECT_THAT(refusal_of(sgd), HasSubstr("weight"));
}

TEST_F(HostOperations, OfAnEmptyBatch_IsALogicError) {
  EXPECT_THAT(refusal_of(forward(0)), HasSubstr("0 x 8 -> 4"));
}

TEST_F(HostOperations, OnTheSameShape_ReuseThePrimitive) {
  for (int repeat = 0; repeat < 3; ++repeat) run(forward(2));
  EXPECT_EQ(operations().primitive_count(), 1);
}

TEST_F(HostOperations, OnAnotherShapeOrActivation_MakeAnother) {
  run(forward(2));
  run(forward(3));
  run(forward(2, Activation::kRelu));
  EXPECT_EQ(operations().primitive_count(), 3);
}

TEST_F(HostOperations, WithAndWithoutBias_DoNotDisturbOneAnother) {
  LinearForward with = forward(2);
  LinearForward without = with;
  without.bias = {};
  without.y = zeros(with.y.size());
  run(with);
  run(without);
  EXPECT_EQ(operations().primitive_count(), 2);
  for (LinearForward op : {with, without}) {
    const Span<float> actual = op.y.as<float>();
    op.y = zeros(actual.size());
    naive(op);
    expect_near(actual, op.y.as<float>(), 1e-6);
  }
}

// A post-op set on a copy of an attribute would appear in the original too.
TEST_F(HostOperations, WithAndWithoutRelu_DoNotDisturbOneAnother) {
  run(forward(2, Activation::kRelu));
  LinearForward plain = forward(2);
  run(plain);
  const Span<float> actual = plain.y.as<float>();
  plain.y = zeros(actual.size());
  naive(plain);
  expect_near(actual, plain.y.as<float>(), 1e-6);
  EXPECT_LT(*std::min_element(actual.begin(), actual.end()), 0);
}

// The worker is held up until the second shape has outgrown the scratch memory of the first and the
// operations are gone.
TEST_F(HostOperations, GoneBeforeTheirWorkIsDone_LeaveItIntact) {
  std::promise<void> gone;  // frees the worker also when it goes unkept, with an error below
  host::host_stream(stream()).enqueue(
      {"hold up", {}, [future = gone.get_future().share()] { future.wait(); }});
  auto short_lived = make_operations(device());
  const LinearForward first = square_forward(128);
  const LinearForward second = square_forward(512);
  short_lived->enqueue(stream(), first);
  short_lived->enqueue(stream(), second);
  short_lived.reset();
  gone.set_value();
  stream().synchronize();
  for (const LinearForward& op : {first, second}) {
    LinearForward expected = op;
    expected.y = zeros(op.y.size());
    naive(expected);
    expect_equal(op.y.as<float>(), expected.y.as<float>());
  }
}

TEST_F(HostOperations, OnEmptyOperands_DoNothing) {
  run(Add{.a = zeros(0), .b = zeros(0), .sum = zeros(0)});
  run(FillRandom{.values = zeros(0), .seed = 1});
}

// A variable of the environment, unset afterwards.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~ScopedVariable() { unsetenv(name_); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* const name_;
};

// All that make_operations asks of a device is its name.
class NamedDevice final : public Device {
 public:
  [[nodiscard]] DeviceId id() const override { return {Backend::kCuda, 3}; }
  [[nodiscard]] std::string name() const override { return "fake"; }
  [[nodiscard]] std::string hardware() const override { return ""; }
  [[nodiscard]] int multiprocessor_count() const override { return 1; }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes /*size*/) override { return nullptr; }
  [[nodiscard]] MemoryUse memory() const override { return {}; }
  [[nodiscard]] std::unique_ptr<Buffer> allocate_host(Bytes /*size*/) override { return nullptr; }
  [[nodiscard]] std::unique_ptr<Stream> make_stream(StreamPriority /*p*/) override {
    return nullptr;
  }
  [[nodiscard]] std::unique_ptr<Event> make_event() override { return nullptr; }
  [[nodiscard]] std::unique_ptr<TimedEvent> make_timed_event() override { return nullptr; }
  void bind_this_thread() override {}
};

TEST(MakeOperations, OnCudaWithoutItsModule_IsAUsageErrorThatNamesTheWayOut) {
  const ScopedVariable nowhere("TANDEM_MODULE_PATH", "/nowhere");
  NamedDevice cuda;
  const Error error = test::error_of([&] { const auto operations = make_operations(cuda); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("there is no /nowhere/libtandem_cuda.so"),
                                  HasSubstr("--backend=host")));
}

}  // namespace
}  // namespace tandem
