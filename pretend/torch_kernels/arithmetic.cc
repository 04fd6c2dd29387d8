// SPDX-License-Identifier: Apache-2.0
#include "pretend/torch_kernels/arithmetic.h"

#include <algorithm>

#include "pretend/torch_kernels/operands.h"

namespace tandem::pretend::torch_kernels {
namespace {

// From at/native/cuda: FillKernel.cu, Copy.cu, Binary*.cu, Unary*.cu, Compare*.cu,
// TensorCompare.cu, Indexing.cu and Loops.cuh. Mangled names have a length before each identifier.
constexpr Functor kFunctors[] = {
    {"11FillFunctorI", Arithmetic::kCopy, "k"},
    {"23direct_copy_kernel_cuda", Arithmetic::kCopy, "x"},
    {"27converting_copy_kernel_cudaI", Arithmetic::kCopy, "x", Gives::kSecond},  // 2.15
    {"15neg_kernel_cuda", Arithmetic::kNegate, "x"},
    {"10AbsFunctorI", Arithmetic::kAbsolute, "x"},
    {"23logical_not_kernel_cuda", Arithmetic::kLogicalNot, "x", Gives::kBool},
    {"23bitwise_not_kernel_cuda", Arithmetic::kBitwiseNot, "x"},
    {"15CUDAFunctor_addI", Arithmetic::kAdd, "xxk"},
    {"21CUDAFunctorOnSelf_addI", Arithmetic::kAdd, "xkk"},
    {"22CUDAFunctorOnOther_addI", Arithmetic::kAdd, "kxk"},
    {"10MulFunctorI", Arithmetic::kMultiply, "xx"},
    {"21div_floor_kernel_cuda", Arithmetic::kDivideFloor, "xx"},
    {"21div_trunc_kernel_cuda", Arithmetic::kDivideTruncated, "xx"},
    {"21remainder_kernel_cuda", Arithmetic::kRemainder, "xx"},
    {"17BitwiseAndFunctorI", Arithmetic::kBitwiseAnd, "xx"},
    {"16BitwiseOrFunctorI", Arithmetic::kBitwiseOr, "xx"},
    {"17BitwiseXorFunctorI", Arithmetic::kBitwiseXor, "xx"},
    {"23logical_and_kernel_cuda", Arithmetic::kLogicalAnd, "xx", Gives::kBool},
    {"22logical_or_kernel_cuda", Arithmetic::kLogicalOr, "xx", Gives::kBool},
    {"23logical_xor_kernel_cuda", Arithmetic::kLogicalXor, "xx", Gives::kBool},
    {"19maximum_kernel_cuda", Arithmetic::kMaximum, "xx"},
    {"19minimum_kernel_cuda", Arithmetic::kMinimum, "xx"},
    {"16CompareEqFunctorI", Arithmetic::kEqual, "xx", Gives::kBool, true},
    {"14CompareFunctorI", Arithmetic::kOrder, "xx", Gives::kBool, true},
    {"21compare_scalar_kernelI", Arithmetic::kOrder, "xk", Gives::kBool, true},
    {"19launch_clamp_scalar", Arithmetic::kClamp, "xkk", Gives::kFirst, true},
    {"17where_kernel_impl", Arithmetic::kWhere, "xxx", Gives::kSecond},
    {"18masked_fill_kernel", Arithmetic::kMaskedFill, "xxk"},
};

// Sums and products wrap as the device's do.
int64_t wrapped(uint64_t value) { return static_cast<int64_t>(value); }

uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }

// Division by 0 has no defined result on a device; here it has 0.
int64_t quotient(int64_t one, int64_t other) {
  return other == 0 ? 0 : other == -1 ? wrapped(-bits(one)) : one / other;
}

int64_t remainder(int64_t one, int64_t other) {  // with the sign of the divisor, as Python's
  const int64_t left = other == 0 || other == -1 ? 0 : one % other;
  return left != 0 && (left < 0) != (other < 0) ? left + other : left;
}

int64_t quotient_floor(int64_t one, int64_t other) {
  const int64_t towards_zero = quotient(one, other);
  return remainder(one, other) != 0 && (one < 0) != (other < 0) ? towards_zero - 1 : towards_zero;
}

bool in_order(int mode, int64_t one, int64_t other) {  // OpType of CompareKernels.cu
  switch (mode) {
    case 0:
      return one >= other;
    case 1:
      return one > other;
    case 2:
      return one <= other;
    default:
      return one < other;
  }
}

int64_t clamped(int mode, int64_t value, int64_t limit, int64_t upper) {  // ClampLimits
  switch (mode) {
    case 0:
      return std::max(value, limit);
    case 1:
      return std::min(value, limit);
    default:
      return std::min(std::max(value, limit), upper);
  }
}

}  // namespace

const Functor* functor_of(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kFunctors), std::end(kFunctors),
                   [&](const Functor& functor) { return has(name, functor.token); });
  return found == std::end(kFunctors) ? nullptr : found;
}

Kept read_kept(const char* from, const Functor& functor, std::string_view operands, Type type,
               uint64_t inner) {
  Kept kept{.bytes = inner};
  uint64_t alignment = 1;
  if (functor.has_mode) {
    kept.mode = read<int>(from);
    kept.bytes = alignment = sizeof(int);
  }
  size_t constant = 0;
  for (const char operand : operands) {
    if (operand == 'k') {
      const uint64_t at = aligned(kept.bytes, size_of(type));
      with_type(type, [&](auto value) {
        kept.constants[constant++] = in_column(read<decltype(value)>(from, at), kMostOperands);
      });
      kept.bytes = at + size_of(type);
      alignment = std::max(alignment, size_of(type));
    }
  }
  kept.bytes = aligned(std::max<uint64_t>(kept.bytes, 1), alignment);
  return kept;
}

void apply(Arithmetic operation, int mode, const std::array<Column, 3>& of, size_t count,
           Column& to) {
  const auto each = [&](const auto& value) {
    for (size_t at = 0; at < count; ++at) to[at] = value(of[0][at], of[1][at], of[2][at]);
  };
  using Value = int64_t;
  switch (operation) {
    case Arithmetic::kCopy:
      return each([](Value a, Value, Value) { return a; });
    case Arithmetic::kNegate:
      return each([](Value a, Value, Value) { return wrapped(-bits(a)); });
    case Arithmetic::kAbsolute:
      return each([](Value a, Value, Value) { return a < 0 ? wrapped(-bits(a)) : a; });
    case Arithmetic::kLogicalNot:
      return each([](Value a, Value, Value) { return Value{a == 0}; });
    case Arithmetic::kBitwiseNot:
      return each([](Value a, Value, Value) { return ~a; });
    case Arithmetic::kAdd:
      return each([](Value a, Value b, Value c) { return wrapped(bits(a) + bits(c) * bits(b)); });
    case Arithmetic::kMultiply:
      return each([](Value a, Value b, Value) { return wrapped(bits(a) * bits(b)); });
    case Arithmetic::kDivideFloor:
      return each([](Value a, Value b, Value) { return quotient_floor(a, b); });
    case Arithmetic::kDivideTruncated:
      return each([](Value a, Value b, Value) { return quotient(a, b); });
    case Arithmetic::kRemainder:
      return each([](Value a, Value b, Value) { return remainder(a, b); });
    case Arithmetic::kBitwiseAnd:
      return each([](Value a, Value b, Value) { return a & b; });
    case Arithmetic::kBitwiseOr:
      return each([](Value a, Value b, Value) { return a | b; });
    case Arithmetic::kBitwiseXor:
      return each([](Value a, Value b, Value) { return a ^ b; });
    case Arithmetic::kLogicalAnd:
      return each([](Value a, Value b, Value) { return Value{a != 0 && b != 0}; });
    case Arithmetic::kLogicalOr:
      return each([](Value a, Value b, Value) { return Value{a != 0 || b != 0}; });
    case Arithmetic::kLogicalXor:
      return each([](Value a, Value b, Value) { return Value{(a != 0) != (b != 0)}; });
    case Arithmetic::kMaximum:
      return each([](Value a, Value b, Value) { return std::max(a, b); });
    case Arithmetic::kMinimum:
      return each([](Value a, Value b, Value) { return std::min(a, b); });
    case Arithmetic::kEqual:  // EqOpType of CompareEQKernel.cu: equal, not equal
      return each([mode](Value a, Value b, Value) { return Value{(a == b) == (mode == 0)}; });
    case Arithmetic::kOrder:
      return each([mode](Value a, Value b, Value) { return Value{in_order(mode, a, b)}; });
    case Arithmetic::kClamp:
      return each([mode](Value a, Value b, Value c) { return clamped(mode, a, b, c); });
    case Arithmetic::kWhere:
      return each([](Value a, Value b, Value c) { return a != 0 ? b : c; });
    case Arithmetic::kMaskedFill:
      return each([](Value a, Value b, Value c) { return b != 0 ? c : a; });
  }
}

}  // namespace tandem::pretend::torch_kernels
