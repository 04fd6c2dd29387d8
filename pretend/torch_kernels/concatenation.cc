// SPDX-License-Identifier: Apache-2.0
//
// CatArrayBatchedCopy of Shape.cu, and its variants for inputs that lie without gaps: cat and stack
// of up to 128 tensors a launch, of any type. Its arguments are the output, what is known of the
// inputs (CatArrInputTensorMetadata: pointers, places along the dimension, sizes there, elements,
// whether each lies without gaps, sizes and strides), sizes and strides of the output, the
// dimension, and the stride along it. The variant that moves vectors of elements counts the
// output in vectors, and the inputs in elements of which the last argument is the unit.
#include <algorithm>
#include <cstdlib>
#include <span>

#include "pretend/torch_kernels/name.h"
#include "pretend/torch_kernels/operands.h"
#include "pretend/torch_kernels/torch_kernel.h"

namespace tandem::pretend::torch_kernels {
namespace {

constexpr size_t kDims = 4;
constexpr size_t kMostInputs = 128;

struct Shape {
  std::array<uint32_t, kDims> sizes;
  std::array<uint32_t, kDims> strides;

  // The offset of an element, last dimension innermost; along one the input has a size of its own.
  [[nodiscard]] uint64_t offset(size_t dims, size_t along, uint32_t own, uint64_t element) const {
    uint64_t offset = 0;
    for (size_t dim = dims - 1; dim > 0; --dim) {
      const uint32_t size = dim == along ? own : sizes[dim];
      offset += element % size * strides[dim];
      element /= size;
    }
    return offset + element * strides[0];
  }

  // How many elements of such an input lie together.
  [[nodiscard]] uint64_t run(size_t dims, size_t along, uint32_t own) const {
    uint64_t inner = 1;
    for (size_t dim = dims - 1; dim > along; --dim) {
      if (strides[dim] != inner) return 1;
      inner *= sizes[dim];
    }
    return strides[along] == inner ? inner * own : 1;
  }
};

struct Input {
  const char* data = nullptr;
  uint64_t place = 0;  // of its part of the output
  uint32_t size = 0;   // along the dimension
  uint32_t elements = 0;
  bool has_no_gaps = true;
  Shape shape{};
};

class Concatenation : public TorchKernel {
 public:
  uint64_t element_bytes = 0;  // or a vector's
  uint32_t vector = 0;         // elements of a vector; 0: it moves elements
  size_t dims = 0;
  size_t most_inputs = 0;
  bool has_shapes = false;

  [[nodiscard]] bool compute(void** arguments, unsigned grid_y) const override {
    auto* const to = read<char*>(arguments[0]);
    const auto shape = read<Shape>(arguments[2]);
    const auto along = static_cast<size_t>(read<int>(arguments[3]));
    const auto stride = read<uint32_t>(arguments[4]);
    if (grid_y > most_inputs || along >= dims) return false;
    std::array<Input, kMostInputs> inputs{};
    for (size_t at = 0; at < grid_y; ++at) inputs[at] = input_at(arguments[1], at, stride);
    Accesses accesses;
    if (!declare({inputs.data(), grid_y}, to, shape, along, accesses) || !accesses.begin()) {
      return false;
    }
    for (size_t at = 0; at < grid_y; ++at) {
      const Input& input = inputs[at];
      const uint64_t run = input.has_no_gaps ? shape.run(dims, along, input.size) : 1;
      for (uint64_t element = 0; element < input.elements; element += run) {
        std::memcpy(
            to + element_bytes * (input.place + shape.offset(dims, along, input.size, element)),
            input.data + element_bytes * place_of(input, along, element), element_bytes * run);
      }
    }
    accesses.end();
    return true;
  }

 private:
  [[nodiscard]] Input input_at(const void* all, size_t at, uint32_t stride) const {
    const size_t numbers = most_inputs * sizeof(void*);
    const size_t flags = numbers + 3 * most_inputs * sizeof(uint32_t);
    Input input{.data = read<const char*>(all, at * sizeof(void*)),
                .place = read<uint32_t>(all, numbers + 4 * at),
                .size = read<uint32_t>(all, numbers + 4 * (most_inputs + at)),
                .elements = read<uint32_t>(all, numbers + 4 * (2 * most_inputs + at))};
    if (has_shapes) {
      input.has_no_gaps = read<bool>(all, flags + at);
      input.shape = read<Shape>(all, aligned(flags + most_inputs, 4) + at * sizeof(Shape));
    }
    input.place *= stride;
    if (vector > 0) {
      input.place /= vector;
      input.size = static_cast<uint32_t>(uint64_t{input.size} * stride / vector);
      input.elements /= vector;
    }
    return input;
  }

  [[nodiscard]] uint64_t place_of(const Input& input, size_t along, uint64_t element) const {
    return input.has_no_gaps ? element : input.shape.offset(dims, along, input.size, element);
  }

  // The last element of an input lies furthest, and so does that of its part of the output.
  bool declare(std::span<const Input> inputs, char* to, const Shape& shape, size_t along,
               Accesses& accesses) const {
    uint64_t elements = 0;
    uint64_t extent = 0;
    for (const Input& input : inputs) {
      if (input.elements == 0) continue;
      for (size_t dim = 1; dim < dims; ++dim) {
        if ((dim == along ? input.size : shape.sizes[dim]) == 0) return false;
      }
      const uint64_t last = input.elements - 1;
      accesses.reads(input.data, element_bytes * (place_of(input, along, last) + 1),
                     element_bytes * input.elements);
      elements += input.elements;
      extent = std::max(extent, input.place + shape.offset(dims, along, input.size, last) + 1);
    }
    accesses.writes(to, element_bytes * extent, element_bytes * elements);
    return elements > 0;
  }
};

// The number behind the token, such as 8 of "10OpaqueTypeILj8E".
size_t number_behind(std::string_view name, std::string_view token) {
  const std::string_view after = behind(name, token);
  return after.empty() ? 0 : std::strtoul(after.data(), nullptr, 10);
}

}  // namespace

std::unique_ptr<TorchKernel> concatenation(std::string_view name) {
  const std::string_view kernel_name = behind(name, "CatArrayBatchedCopy");
  const std::string_view types = behind(kernel_name, "10OpaqueTypeILj");
  const std::string_view numbers = behind(types, "EjLi");  // dimensions, inputs, shapes
  if (numbers.empty()) return nullptr;
  auto kernel = std::make_unique<Concatenation>();
  kernel->element_bytes = std::strtoul(types.data(), nullptr, 10);
  kernel->dims = std::strtoul(numbers.data(), nullptr, 10);
  kernel->most_inputs = number_behind(numbers, "ELi");
  kernel->has_shapes = kernel_name.substr(0, 2) == "IN";
  if (kernel_name.substr(0, 11) == "_vectorized") {
    // Elements are vectors of the last of five numbers.
    const std::string_view shapes = behind(numbers, "ELi");
    kernel->vector =
        static_cast<uint32_t>(number_behind(behind(behind(shapes, "ELi"), "ELi"), "ELi"));
    kernel->element_bytes *= kernel->vector;
  }
  const bool is_whole = kernel->element_bytes > 0 && kernel->dims > 0 && kernel->dims <= kDims &&
                        kernel->most_inputs > 0 && kernel->most_inputs <= kMostInputs;
  return is_whole ? std::move(kernel) : nullptr;
}

}  // namespace tandem::pretend::torch_kernels
