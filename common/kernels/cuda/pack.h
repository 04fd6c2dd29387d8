// SPDX-License-Identifier: Apache-2.0
//
// Neighbouring elements that a thread loads and stores with one instruction. That needs them
// aligned to the whole pack, which tensors within an arena often are not: whoever launches asks
// first.
#pragma once

#include <concepts>
#include <cstdint>

#include "common/kernels/cuda/device_code.h"

namespace tandem::cuda {

inline constexpr int kPack = 4;      // elements: 16 bytes of fp32, 8 of the narrow types
inline constexpr int kWidePack = 8;  // elements of the narrow types: 16 bytes

template <class T, int width>
struct alignas(sizeof(T) * width) Pack {
  T values[width];

  TANDEM_DEVICE T& operator[](int i) { return values[i]; }
  TANDEM_DEVICE const T& operator[](int i) const { return values[i]; }
};

template <class T, int width>
TANDEM_DEVICE inline Pack<T, width> operator+(const Pack<T, width>& a, const Pack<T, width>& b) {
  Pack<T, width> sum;
  for (int i = 0; i < width; ++i) sum[i] = a[i] + b[i];
  return sum;
}

template <int width, class T>
TANDEM_DEVICE inline Pack<T, width> load(const T* from) {
  return *reinterpret_cast<const Pack<T, width>*>(from);
}

template <int width, class T>
TANDEM_DEVICE inline void store(T* to, const Pack<T, width>& pack) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof pack == sizeof(uint4)) {  // of an assignment the compiler may make several
    const auto words = __builtin_bit_cast(uint4, pack);
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)),
                 "r"(words.x), "r"(words.y), "r"(words.z), "r"(words.w)
                 : "memory");
    return;
  }
#endif
  *reinterpret_cast<Pack<T, width>*>(to) = pack;
}

// Whether packs of so many elements may start at each of these addresses.
template <class... T>
[[nodiscard]] bool are_packed(int width, const T*... first) {
  return ((reinterpret_cast<std::uintptr_t>(first) % (sizeof(T) * width) == 0) && ...);
}
template <class... T>
[[nodiscard]] bool are_packed(const T*... first) {
  return are_packed(kPack, first...);
}

// Functions whose operands may at times be taken in packs, and in packs of Function::kWidest.
template <class Function>
concept Packable = requires(const Function& function) {
  { function.packed() } -> std::same_as<bool>;
};
template <class Function>
concept WidelyPackable = Packable<Function> && Function::kWidest == kWidePack;
template <class T>
inline constexpr int kWidestPack = sizeof(T) == 2 ? kWidePack : kPack;

// The work of thread `thread` of `visit`ing threads: calls at<width>(i) for its own whole pack, or
// at<1>(i) for each element of the last one.
template <int width, class Function>
TANDEM_DEVICE inline void visit(std::int64_t thread, std::int64_t count, const Function& function) {
  const std::int64_t begin = thread * width;
  if (begin + width <= count) {
    function.template at<width>(begin);
  } else {
    for (std::int64_t i = begin; i < count; ++i) function.template at<1>(i);
  }
}

}  // namespace tandem::cuda
