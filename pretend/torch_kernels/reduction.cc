// SPDX-License-Identifier: Apache-2.0
//
// reduce_kernel of Reduce.cuh: sums, extremes with and without their places, any and all. Its one
// argument, a ReduceOp, keeps: operations (nothing), the neutral value, ReduceConfig (of which the
// second number is that of the inputs of an output, the third that of outputs), the calculator of
// inputs, the one of outputs, the input, two outputs.

#include "pretend/torch_kernels/name.h"
#include "pretend/torch_kernels/operands.h"
#include "pretend/torch_kernels/torch_kernel.h"

namespace tandem::pretend::torch_kernels {
namespace {

enum class ReductionKind : uint8_t { kSum, kMaximum, kMinimum, kAny, kAll };

// What the kernel writes of the value it finds and of its place.
enum class Writes : uint8_t { kValue, kValueAndPlace, kPlace, kBothExtremes };

struct Reducer {
  std::string_view token;
  ReductionKind kind;
  Writes writes;
};
constexpr Reducer kReducers[] = {
    {"11sum_functorI", ReductionKind::kSum, Writes::kValue},
    {"13MaxNanFunctorI", ReductionKind::kMaximum, Writes::kValue},
    {"13MinNanFunctorI", ReductionKind::kMinimum, Writes::kValue},
    {"9ArgMaxOpsI", ReductionKind::kMaximum, Writes::kPlace},
    {"9ArgMinOpsI", ReductionKind::kMinimum, Writes::kPlace},
    {"9MinMaxOpsI", ReductionKind::kMinimum, Writes::kBothExtremes},
    {"6MaxOpsI", ReductionKind::kMaximum, Writes::kValueAndPlace},
    {"6MinOpsI", ReductionKind::kMinimum, Writes::kValueAndPlace},
    {"14or_kernel_cuda", ReductionKind::kAny, Writes::kValue},
    {"15and_kernel_cuda", ReductionKind::kAll, Writes::kValue},
};

struct Found {
  int64_t value = 0;
  int64_t place = 0;
};

int64_t load(Type type, const char* from) {
  int64_t loaded = 0;
  with_type(type, [&](auto value) { loaded = static_cast<int64_t>(read<decltype(value)>(from)); });
  return loaded;
}

void store(Type type, char* to, int64_t value) {
  with_type(type, [&](auto stored) {
    stored = static_cast<decltype(stored)>(value);
    std::memcpy(to, &stored, sizeof stored);
  });
}

class Reduction : public TorchKernel {
 public:
  ReductionKind kind = ReductionKind::kSum;
  Writes writes = Writes::kValue;
  Type input = Type::kNone;
  Type output = Type::kNone;
  uint64_t config = 0;  // where ReduceConfig begins

  [[nodiscard]] bool compute(void** arguments, unsigned) const override {
    const auto* const operation = static_cast<const char*>(arguments[0]);
    Launch launch;
    Accesses accesses;
    if (!decode(operation, launch)) return false;
    if (is_float(output)) {
      if (launch.outputs == 1) Accesses::clear(launch.to[0], size_of(output));
      return false;
    }
    declare(launch, accesses);
    if (!accesses.begin()) return false;
    for (uint64_t at = 0; at < launch.outputs; ++at) {
      const char* const from = launch.from + launch.of_outputs.offset(1, at);
      const Found found = reduce(launch, from, kind);
      const uint64_t to = launch.of_outputs.offset(0, at);
      store(output, launch.to[0] + to, writes == Writes::kPlace ? found.place : found.value);
      if (writes == Writes::kValueAndPlace) {
        store(Type::kI64, launch.to[1] + to / size_of(output) * 8, found.place);
      } else if (writes == Writes::kBothExtremes) {
        store(output, launch.to[1] + to, reduce(launch, from, ReductionKind::kMaximum).value);
      }
    }
    accesses.end();
    return true;
  }

 private:
  struct Launch {
    uint64_t inputs = 0;  // of an output
    uint64_t outputs = 0;
    Placement of_inputs{};
    Placement of_outputs{};  // operand 0: the output, 1: where its inputs begin
    const char* from = nullptr;
    std::array<char*, 2> to{};
  };

  bool decode(const char* operation, Launch& launch) const {
    constexpr uint64_t kConfigBytes = 64;
    const uint64_t calculators = config + kConfigBytes;
    const uint64_t outputs = calculators + Placement::bytes(1);
    const uint64_t pointers = aligned(outputs + Placement::bytes(2), sizeof(void*));
    launch.inputs = static_cast<uint64_t>(read<int>(operation, config + 4));
    launch.outputs = static_cast<uint64_t>(read<int>(operation, config + 8));
    launch.from = read<const char*>(operation, pointers);
    launch.to = read<std::array<char*, 2>>(operation, pointers + sizeof(void*));
    return launch.of_inputs.read_from(operation + calculators, 1) &&
           launch.of_outputs.read_from(operation + outputs, 2) &&
           launch.of_inputs.elements() == launch.inputs &&
           launch.of_outputs.elements() == launch.outputs;
  }

  void declare(const Launch& launch, Accesses& accesses) const {
    const uint64_t size = size_of(input);
    const uint64_t extent =
        launch.of_inputs.extent(0, size) + launch.of_outputs.extent(1, size) - size;
    accesses.reads(launch.from, extent, launch.inputs * launch.outputs * size);
    const uint64_t written = launch.outputs * size_of(output);
    accesses.writes(launch.to[0], launch.of_outputs.extent(0, size_of(output)), written);
    if (writes == Writes::kValueAndPlace || writes == Writes::kBothExtremes) {
      const uint64_t each = writes == Writes::kValueAndPlace ? 8 : size_of(output);
      const uint64_t bytes = launch.of_outputs.extent(0, size_of(output)) / size_of(output) * each;
      accesses.writes(launch.to[1], bytes, launch.outputs * each);
    }
  }

  Found reduce(const Launch& launch, const char* from, ReductionKind by) const {
    Found found{.value = load(input, from)};
    if (by == ReductionKind::kAny || by == ReductionKind::kAll) {
      found.value = found.value != 0 ? 1 : 0;
    }
    for (uint64_t at = 1; at < launch.inputs; ++at) {
      const int64_t value = load(input, from + launch.of_inputs.offset(0, at));
      const bool better = (by == ReductionKind::kMaximum && value > found.value) ||
                          (by == ReductionKind::kMinimum && value < found.value);
      if (better) {
        found = {value, static_cast<int64_t>(at)};
      } else if (by == ReductionKind::kSum) {
        found.value =
            static_cast<int64_t>(static_cast<uint64_t>(found.value) + static_cast<uint64_t>(value));
      } else if (by == ReductionKind::kAny || by == ReductionKind::kAll) {
        found.value =
            by == ReductionKind::kAny ? found.value | (value != 0) : found.value & (value != 0);
      }
    }
    return found;
  }
};

// The loss of a classification, which is not computed and becomes 0.
class ClassLoss : public TorchKernel {
 public:
  explicit ClassLoss(std::string_view types)
      : bytes_(types.starts_with('f')   ? 4
               : types.starts_with('d') ? 8
                                        : 2) {}

  [[nodiscard]] bool compute(void** arguments, unsigned) const override {
    Accesses::clear(read<void*>(arguments[0]), bytes_);
    return false;
  }

 private:
  uint64_t bytes_;  // of float, double, or a half
};

// The type of the output stands behind that of indices, unsigned: "jlLi4E".
Type output_of(std::string_view name) {
  for (size_t at = 0; at + 4 <= name.size(); ++at) {
    if (name[at] == 'j' && name.substr(at + 2, 2) == "Li") return type_of(name[at + 1]);
  }
  return Type::kNone;
}

// The neutral value lies behind the operations, which have a byte.
uint64_t config_of(const Reducer& reducer, std::string_view name) {
  const std::string_view after = behind(name, reducer.token);
  const bool is_struct = reducer.token.back() == 'I' && reducer.kind != ReductionKind::kSum;
  const std::string_view letters = is_struct ? after : lambda_arguments(after);
  const uint64_t size = letters.empty() ? 0 : size_of(type_of(letters[0]));
  switch (reducer.writes) {
    case Writes::kValue:
      return aligned(size * 2, sizeof(int));
    case Writes::kBothExtremes:
      return aligned(size * 3, sizeof(int));
    case Writes::kValueAndPlace:
    case Writes::kPlace:
      return 24;  // a pair of value and int64_t
  }
  return 0;
}

}  // namespace

std::unique_ptr<TorchKernel> reduction(std::string_view name) {
  const std::string_view loss = behind(name, "nll_loss_forward_reduce_cuda_kernel_");
  if (!loss.empty()) return std::make_unique<ClassLoss>(behind(loss, "I"));
  const std::string_view arguments = behind(name, "8ReduceOpI");
  if (!has(name, "13reduce_kernelI") || arguments.empty()) return nullptr;
  if (has(arguments, "jfLi") || has(arguments, "jdLi")) {
    auto kernel = std::make_unique<Reduction>();
    kernel->output = has(arguments, "jfLi") ? Type::kF32 : Type::kF64;
    kernel->config = size_of(kernel->output) * 2;  // their operations keep a number at most
    return kernel;
  }
  for (const Reducer& reducer : kReducers) {
    if (!has(arguments, reducer.token)) continue;
    auto kernel = std::make_unique<Reduction>();
    kernel->kind = reducer.kind;
    kernel->writes = reducer.writes;
    kernel->input = type_of(arguments[0]);
    kernel->output = output_of(arguments);
    kernel->config = config_of(reducer, arguments);
    const bool known =
        kernel->input != Type::kNone && kernel->output != Type::kNone && kernel->config > 0;
    return known ? std::move(kernel) : nullptr;
  }
  return nullptr;
}

}  // namespace tandem::pretend::torch_kernels
