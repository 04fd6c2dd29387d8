// SPDX-License-Identifier: Apache-2.0
//
// The memory that a kernel reads and writes, and torch's description of where its elements lie.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace tandem::pretend::torch_kernels {

template <typename Value>
[[nodiscard]] Value read(const void* from, uint64_t offset = 0) {
  Value value{};
  std::memcpy(&value, static_cast<const char*>(from) + offset, sizeof value);
  return value;
}

[[nodiscard]] constexpr uint64_t aligned(uint64_t offset, uint64_t to) {
  return (offset + to - 1) / to * to;
}

inline constexpr int kMostDims = 25;  // MAX_DIMS of torch's OffsetCalculator
inline constexpr int kMostOperands = 4;

// torch's OffsetCalculator<operands>: an element's number to its offsets, the first dimension
// innermost. It lies in memory as dimensions, sizes with what divides by them, strides.
struct Placement {
  int dims = 1;
  std::array<uint32_t, kMostDims> sizes{};
  std::array<std::array<uint32_t, kMostDims>, kMostOperands> strides{};  // in bytes

  [[nodiscard]] static constexpr uint64_t bytes(int operands) {
    return 4 + kMostDims * 12 + kMostDims * 4 * static_cast<uint64_t>(operands);
  }
  // False where nothing like it lies there.
  [[nodiscard]] bool read_from(const char* from, int operands);

  [[nodiscard]] bool has_no_gaps(int operand, uint64_t size) const {
    return dims == 1 && strides[static_cast<size_t>(operand)][0] == size;
  }
  [[nodiscard]] uint64_t offset(int operand, uint64_t element) const {
    const auto& stride = strides[static_cast<size_t>(operand)];
    if (dims == 1) return element * stride[0];
    uint64_t offset = 0;
    auto left = static_cast<uint32_t>(element);  // which divides faster
    for (size_t dim = 0; dim < static_cast<size_t>(dims); ++dim) {
      offset += uint64_t{left % sizes[dim]} * stride[dim];
      left /= sizes[dim];
    }
    return offset;
  }
  [[nodiscard]] uint64_t elements() const;
  // From the first to behind the last element of the size.
  [[nodiscard]] uint64_t extent(int operand, uint64_t size) const;
};

// What a launch reads and writes. To be filled before it is computed: values of other ranks that
// are due there come first.
class Accesses {
 public:
  // A number that is not computed becomes 0, since old bytes would be another number in each rank.
  static void clear(void* number, uint64_t bytes);

  // `bytes` lie from `address` on, and the elements in them have `used` bytes.
  void reads(const void* address, uint64_t bytes, uint64_t used) {
    add({address, bytes, used, Kind::kRead});
  }
  void writes(const void* address, uint64_t bytes, uint64_t used) {
    add({address, bytes, used, Kind::kWritten});
  }

  // Whether all of it is memory of devices and small. Then it may be read and written.
  [[nodiscard]] bool begin();

  // Whether all that is read was computed: then it may be an integer where no name says so.
  [[nodiscard]] bool are_known() const;

  // What was written is known if all that was read is.
  void end();

 private:
  enum class Kind : uint8_t { kRead, kWritten };
  struct Part {
    const void* address = nullptr;
    uint64_t bytes = 0;
    uint64_t used = 0;
    Kind kind = Kind::kRead;
    int device = 0;
  };
  void add(const Part& part);
  [[nodiscard]] static bool is_known(const Part& part);

  std::array<Part, 132> parts_{};  // torch concatenates 128 tensors at most in a launch
  size_t count_ = 0;
  bool fits_ = true;
};

}  // namespace tandem::pretend::torch_kernels
