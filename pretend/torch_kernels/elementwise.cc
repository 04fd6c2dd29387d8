// SPDX-License-Identifier: Apache-2.0
//
// Kernels of Loops.cuh and CUDALoops.cuh. Their arguments are the number of elements, then
//
//   vectorized_elementwise_kernel   functor, pointers
//   unrolled_elementwise_kernel     functor, pointers, two trivial calculators, loader, storer
//   elementwise_kernel              a lambda that keeps an OffsetCalculator, pointers, the functor
//                                   and, where it casts, the types of all tensors
//   elementwise_kernel_with_index   a lambda that keeps begin and step, the output: arange
//
// The pointers begin with the output's.
#include <algorithm>
#include <optional>
#include <string>

#include "pretend/torch_kernels/arithmetic.h"
#include "pretend/torch_kernels/operands.h"
#include "pretend/torch_kernels/torch_kernel.h"

namespace tandem::pretend::torch_kernels {
namespace {

enum class Form : uint8_t { kVectorized, kUnrolled, kStrided };

struct Tensor {
  char* data = nullptr;
  Type type = Type::kNone;
};

struct Loop {
  uint64_t elements = 0;
  Placement layout{};
  std::array<Tensor, kMostOperands> tensors{};  // the output is the first
};

Type type_of_torch(int8_t scalar_type) {  // c10::ScalarType
  constexpr Type kTypes[] = {Type::kU8,  Type::kI8,   Type::kI16, Type::kI32,
                             Type::kI64, Type::kNone, Type::kF32, Type::kF64};
  constexpr int8_t kTorchBool = 11;
  return scalar_type == kTorchBool             ? Type::kBool
         : scalar_type >= 0 && scalar_type < 8 ? kTypes[scalar_type]
                                               : Type::kNone;
}

void load(const Loop& loop, int tensor, uint64_t first, size_t count, Column& to) {
  const Tensor& from = loop.tensors[static_cast<size_t>(tensor)];
  const auto operand = static_cast<size_t>(tensor);
  with_type(from.type, [&](auto value) {
    using Value = decltype(value);
    if (loop.layout.has_no_gaps(tensor, sizeof(Value))) {
      const char* const begin = from.data + first * sizeof(Value);
      for (size_t at = 0; at < count; ++at) {
        to[at] = in_column(read<Value>(begin, at * sizeof(Value)), operand);
      }
      return;
    }
    for (size_t at = 0; at < count; ++at) {
      to[at] = in_column(read<Value>(from.data, loop.layout.offset(tensor, first + at)), operand);
    }
  });
}

// As the functor's type has the values.
void cut(Type type, size_t count, Column& values) {
  with_type(type, [&](auto value) {
    for (size_t at = 0; at < count; ++at) {
      values[at] = static_cast<int64_t>(static_cast<decltype(value)>(values[at]));
    }
  });
}

void store(const Loop& loop, uint64_t first, size_t count, const Column& from) {
  char* const to = loop.tensors[0].data;
  with_type(loop.tensors[0].type, [&](auto value) {
    constexpr uint64_t kSize = sizeof value;
    const bool has_no_gaps = loop.layout.has_no_gaps(0, kSize);
    for (size_t at = 0; at < count; ++at) {
      value = static_cast<decltype(value)>(from[at]);
      std::memcpy(to + (has_no_gaps ? (first + at) * kSize : loop.layout.offset(0, first + at)),
                  &value, kSize);
    }
  });
}

void deny_order_of_nan(const std::array<Column, 3>& of, size_t count, Column& result) {
  for (size_t at = 0; at < count; ++at) {
    if (std::max(of[0][at], of[1][at]) >= kNan - kMostOperands) result[at] = 0;
  }
}

// Clears what a launch that is not computed gives, if it is one float. A kernel that changes its
// input in place leaves it. False, as compute().
bool clear_one(void** arguments, Type type, bool has_input) {
  auto* const* const pointers = static_cast<char* const*>(arguments[2]);
  if (read<int>(arguments[0]) == 1 && is_float(type) &&
      !(has_input && pointers[0] == pointers[1])) {
    Accesses::clear(pointers[0], size_of(type));
  }
  return false;
}

// A kernel of floats that is not computed.
class OneFloat : public TorchKernel {
 public:
  Type type = Type::kNone;
  bool has_input = false;

  [[nodiscard]] bool compute(void** arguments, unsigned) const override {
    return clear_one(arguments, type, has_input);
  }
};

class Elementwise : public TorchKernel {
 public:
  Form form = Form::kVectorized;
  bool casts = false;
  const Functor* functor = nullptr;
  Arithmetic operation = Arithmetic::kCopy;
  std::string_view operands{};              // the functor's, or those that a wrapper leaves
  std::array<Type, kMostOperands> types{};  // of the functor's result and arguments
  Type kept_type = Type::kNone;
  uint64_t inner_bytes = 0;
  bool may_be_float = false;  // perhaps moves values that are as a rule not computed

  [[nodiscard]] int tensors() const {
    return 1 + static_cast<int>(std::count(operands.begin(), operands.end(), 'x'));
  }

  [[nodiscard]] bool compute(void** arguments, unsigned) const override {
    Loop loop;
    Kept kept;
    if (!decode(arguments, loop, kept)) {
      return form == Form::kUnrolled && casts &&
             clear_one(arguments, type_of_torch(read<int8_t>(arguments[6])), true);
    }
    Accesses accesses;
    for (int tensor = tensors() - 1; tensor >= 0; --tensor) {
      const Tensor& one = loop.tensors[static_cast<size_t>(tensor)];
      const uint64_t size = size_of(one.type);
      const uint64_t extent = loop.layout.extent(tensor, size);
      tensor == 0 ? accesses.writes(one.data, extent, loop.elements * size)
                  : accesses.reads(one.data, extent, loop.elements * size);
    }
    // A few floats may be flags. More cost time, and are worth it where they were computed.
    const bool is_costly = may_be_float && loop.elements > kColumn;
    if (!accesses.begin() || (is_costly && (tensors() == 1 || !accesses.are_known()))) return false;
    run(loop, kept);
    accesses.end();
    return true;
  }

 private:
  bool decode(void** arguments, Loop& loop, Kept& kept) const {
    const int count = read<int>(arguments[0]);
    if (count <= 0) return false;
    loop.elements = static_cast<uint64_t>(count);
    const auto* const state = static_cast<const char*>(arguments[1]);
    const char* pointers = static_cast<const char*>(arguments[form == Form::kStrided ? 1 : 2]);
    const char* own = state;
    if (form == Form::kStrided) {
      pointers += aligned(Placement::bytes(tensors()), sizeof(char*));
      own = pointers + sizeof(char*) * static_cast<size_t>(tensors());
    }
    kept = read_kept(own, *functor, operands, kept_type, inner_bytes);
    for (size_t tensor = 0; tensor < static_cast<size_t>(tensors()); ++tensor) {
      const char* torch_type = own + kept.bytes + tensor;  // behind the functor
      if (form == Form::kUnrolled && casts) {
        torch_type = static_cast<const char*>(arguments[tensor == 0 ? 6 : 5]) +
                     (tensor == 0 ? 0 : tensor - 1);
      }
      Tensor& one = loop.tensors[tensor];
      one.data = read<char*>(pointers, sizeof(char*) * tensor);
      one.type = casts ? type_of_torch(read<int8_t>(torch_type)) : types[tensor];
      if (one.type == Type::kNone ||
          (casts && is_float(one.type) && !(tensor > 0 && makes_flags()))) {
        return false;
      }
    }
    return place(state, loop);
  }

  // It asks of floats whether they are 0.
  [[nodiscard]] bool makes_flags() const {
    return operation == Arithmetic::kCopy && types[0] == Type::kBool;
  }

  bool place(const char* state, Loop& loop) const {
    if (form == Form::kStrided) {
      return loop.layout.read_from(state, tensors()) && loop.layout.elements() == loop.elements;
    }
    loop.layout.sizes[0] = static_cast<uint32_t>(loop.elements);
    for (size_t tensor = 0; tensor < loop.tensors.size(); ++tensor) {
      loop.layout.strides[tensor][0] = static_cast<uint32_t>(size_of(loop.tensors[tensor].type));
    }
    return true;
  }

  void run(const Loop& loop, const Kept& kept) const {
    std::array<Column, 3> of{};
    size_t constant = 0;
    for (size_t operand = 0; operand < operands.size(); ++operand) {
      if (operands[operand] == 'k') of[operand].fill(kept.constants[constant++]);
    }
    Column result{};
    for (uint64_t first = 0; first < loop.elements; first += kColumn) {
      const size_t count = std::min(kColumn, loop.elements - first);
      int tensor = 0;
      for (size_t operand = 0; operand < operands.size(); ++operand) {
        if (operands[operand] == 'x') {
          load(loop, ++tensor, first, count, of[operand]);
          cut(types[static_cast<size_t>(tensor)], casts ? count : 0, of[operand]);
        }
      }
      apply(operation, kept.mode, of, count, result);
      if (operation == Arithmetic::kOrder && is_float(types[1])) {
        deny_order_of_nan(of, count, result);
      }
      cut(types[0], casts ? count : 0, result);
      store(loop, first, count, result);
    }
  }
};

// BinaryFunctor<first, second, result, functor>, and those that keep the first or the second.
struct Wrapper {
  std::string_view token;
  std::string_view operands;
};
constexpr Wrapper kWrappers[] = {
    {"13BinaryFunctorI", "xx"}, {"13AUnaryFunctorI", "kx"}, {"13BUnaryFunctorI", "xk"}};

// By where() torch 2.15 moves what has the size of an unsigned type: floats, too.
char signed_letter(char letter) {
  return letter == 'm' ? 'l' : letter == 'j' ? 'i' : letter == 't' ? 's' : letter;
}

Type type_of_operand(const Functor& functor, char letter) {
  const bool compares =
      functor.operation == Arithmetic::kEqual || functor.operation == Arithmetic::kOrder;
  return compares && letter == 'f'   ? Type::kF32
         : compares && letter == 'd' ? Type::kF64
                                     : type_of(signed_letter(letter));
}

bool set_types_of_wrapper(const Wrapper& wrapper, std::string_view types, Elementwise& kernel) {
  kernel.operands = wrapper.operands;
  kernel.kept_type = type_of_operand(*kernel.functor, types[0]);
  kernel.types = {type_of(types[2]), kernel.kept_type, kernel.kept_type};
  kernel.inner_bytes = 1;
  return types[0] == types[1] && kernel.types[0] != Type::kNone && kernel.types[1] != Type::kNone;
}

// What the functor takes and gives; false where a type is not computed.
bool set_types(std::string_view name, Elementwise& kernel) {
  for (const Wrapper& wrapper : kWrappers) {
    if (const std::string_view types = behind(name, wrapper.token); types.size() > 3) {
      return set_types_of_wrapper(wrapper, types, kernel);
    }
  }
  const Functor& functor = *kernel.functor;
  const std::string_view after = behind(name, functor.token);
  const bool is_struct = functor.token.back() == 'I';
  std::string letters(is_struct ? after.substr(0, 2) : lambda_arguments(after));
  const bool moves = functor.operation == Arithmetic::kWhere ||
                     functor.operation == Arithmetic::kMaskedFill ||
                     (functor.operation == Arithmetic::kCopy && functor.gives == Gives::kFirst);
  const bool moves_floats = moves && letters.find_first_of("fd") != std::string::npos;
  if (moves_floats) {  // as integers of their size
    std::replace(letters.begin(), letters.end(), 'f', 'i');
    std::replace(letters.begin(), letters.end(), 'd', 'l');
  }
  const size_t result = functor.gives == Gives::kSecond ? 1 : 0;
  if (letters.size() <= result) return false;
  kernel.operands = functor.operands;
  kernel.kept_type = type_of_operand(functor, letters[0]);
  kernel.may_be_float = moves_floats || letters[result] == 'j' || letters[result] == 't';
  kernel.types[0] =
      functor.gives == Gives::kBool ? Type::kBool : type_of(signed_letter(letters[result]));
  bool known = kernel.types[0] != Type::kNone && kernel.kept_type != Type::kNone;
  for (size_t tensor = 1; tensor < static_cast<size_t>(kernel.tensors()); ++tensor) {
    const size_t argument = is_struct ? 0 : tensor - 1;
    known = known && argument < letters.size();
    kernel.types[tensor] = known ? type_of_operand(functor, letters[argument]) : Type::kNone;
    known = known && kernel.types[tensor] != Type::kNone;
  }
  return known;
}

std::optional<Form> form_of(std::string_view name) {
  if (has(name, "29vectorized_elementwise_kernelI")) return Form::kVectorized;
  if (has(name, "27unrolled_elementwise_kernelI")) return Form::kUnrolled;
  if (has(name, "18elementwise_kernelI")) return Form::kStrided;
  return std::nullopt;
}

class Arange : public TorchKernel {
 public:
  [[nodiscard]] bool compute(void** arguments, unsigned) const override {
    const int count = read<int>(arguments[0]);
    const auto first = read<uint64_t>(arguments[1]);
    const auto step = read<uint64_t>(arguments[1], 8);
    auto* const to = read<int64_t*>(arguments[2]);
    const uint64_t bytes = static_cast<uint64_t>(count) * sizeof(int64_t);
    Accesses accesses;
    accesses.writes(to, bytes, bytes);
    if (count <= 0 || !accesses.begin()) return false;
    for (uint64_t at = 0; at < static_cast<uint64_t>(count); ++at) {
      to[at] = static_cast<int64_t>(first + step * at);
    }
    accesses.end();
    return true;
  }
};

// The float that a functor or lambda of floats gives; what gives bools or other floats is none.
Type float_of(std::string_view name) {
  const std::string_view of = behind(name, "elementwise_kernelI");
  for (const char* const other : {"signbit", "inf_kernel", "4HalfE", "8BFloat16E", "7complexI"}) {
    if (has(of, other)) return Type::kNone;
  }
  const std::string_view converted = behind(of, "27converting_copy_kernel_cudaI").substr(0, 2);
  const auto is_of = [&](char letter) {
    const std::string type(1, letter);
    return has(of, "I" + type + "E") || has(of, "I" + type + type + type) ||
           has(of, "EUl" + type) ||
           has(converted.substr(std::min<size_t>(1, converted.size())), type);
  };
  return is_of('f') ? Type::kF32 : is_of('d') ? Type::kF64 : Type::kNone;
}

std::unique_ptr<TorchKernel> one_float(std::string_view name, Form form) {
  auto kernel = std::make_unique<OneFloat>();
  kernel->type = float_of(name);
  kernel->has_input = !has(name, "IPcLm1E") && !has(name, "IPcLi1E");
  const bool is_found =
      form != Form::kStrided && is_float(kernel->type) && !has(name, "12LoadWithCastI");
  return is_found ? std::move(kernel) : nullptr;
}

}  // namespace

std::unique_ptr<TorchKernel> elementwise(std::string_view name) {
  // The fourth type that torch dispatches to is long, an arange's unless the program names another.
  if (has(name, "29elementwise_kernel_with_indexIi") &&
      has(behind(name, "15arange_cuda_out"), "NKUlvE2_clEvEUl")) {
    return std::make_unique<Arange>();
  }
  const std::optional<Form> form = form_of(name);
  const Functor* const functor = form ? functor_of(name) : nullptr;
  if (functor == nullptr) return form ? one_float(name, *form) : nullptr;
  auto kernel = std::make_unique<Elementwise>();
  kernel->form = *form;
  kernel->functor = functor;
  kernel->casts = has(name, "12LoadWithCastI") || has(name, "15gpu_kernel_implI");
  if (!set_types(name, *kernel)) {
    return functor->gives == Gives::kBool ? nullptr : one_float(name, *form);
  }
  const bool is_not = functor->operation == Arithmetic::kBitwiseNot;
  kernel->operation =
      is_not && kernel->types[0] == Type::kBool ? Arithmetic::kLogicalNot : functor->operation;
  return kernel;
}

}  // namespace tandem::pretend::torch_kernels
