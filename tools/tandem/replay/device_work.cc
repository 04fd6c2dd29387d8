// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/replay/device_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>
#include <optional>

#include "common/base/error.h"
#include "simulate/cost/operation_costs.h"

namespace tandem::replay {
namespace {

constexpr std::int64_t kBlockOfList = 65536;  // elements: torch's kChunkSize

std::int64_t bytes_of_type(std::string_view type) {
  if (type == "f16" || type == "bf16") return 2;
  if (type == "f64" || type == "i64" || type == "u64" || type == "complex") return 8;
  if (type == "i8" || type == "u8" || type == "f8") return 1;
  return 4;
}

std::int64_t elements_of(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

// The number behind `mark` in a mangled name; nothing without the mark.
std::optional<int> number_behind(std::string_view name, std::string_view mark) {
  const std::size_t at = name.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  int number = 0;
  const char* const begin = name.data() + at + mark.size();
  const auto read = std::from_chars(begin, name.data() + name.size(), number);
  constexpr int kMostOperands = 1024;  // beyond what any kernel has; products do not overflow
  const bool is_number = read.ec == std::errc() && number >= 0 && number <= kMostOperands;
  return is_number ? std::optional(number) : std::nullopt;
}

// The bytes of an element by the types in a kernel's mangled name.
std::int64_t bytes_by_name(std::string_view kernel) {
  const bool is_half = kernel.find("c104HalfE") != std::string_view::npos ||
                       kernel.find("c108BFloat16E") != std::string_view::npos;
  return is_half ? 2 : 4;
}

// Operands stand in the name as an array of pointers; without it two are read and one is written.
std::int64_t operands_by_name(std::string_view kernel) {
  return number_behind(kernel, "St5arrayIPcLm").value_or(3);
}

DeviceTime moved(Bytes bytes, const GpuDescription& gpu, bool is_told = true) {
  return {memory_time(gpu, bytes), is_told};
}

double peak_of(std::string_view type, const GpuDescription& gpu, OperationKind kind) {
  const auto value = [](const std::optional<SourcedFigure<double>>& figure) {
    return figure ? std::optional(figure->value) : std::nullopt;
  };
  std::optional<double> peak;
  if (type == "f32") {
    peak = gpu.fp32.value;
    if (kind == OperationKind::kConvolution) peak = value(gpu.tf32).value_or(*peak);
  } else if (type == "f16") {
    peak = gpu.fp16 ? value(gpu.fp16) : value(gpu.bf16);  // tensor cores have one peak for both
  } else if (type == "bf16") {
    peak = value(gpu.bf16);
  }
  if (peak) return *peak;
  fail(ErrorKind::kUsage,
       "replaying the log: the description of {} has no peak for products of {}; describe another "
       "GPU or train in another type",
       gpu.name, type);
}

void check_terms(std::int64_t a, std::int64_t b) {
  constexpr double kMostOfConvolution = 1e18;
  if (static_cast<double>(a) * static_cast<double>(b) <= kMostOfConvolution) return;
  fail(ErrorKind::kUsage,
       "replaying the log: a convolution has {} times {} terms, which no GPU takes: the log is "
       "damaged; record it again",
       a, b);
}

// A convolution as the product of its windows, as the simulated strategies have it. `x` and `y` are
// images by samples, channels and places, whichever of the three is the result.
OperationWork convolution_work(const LibraryOperation& operation) {
  const std::int64_t inputs = elements_of(operation.x) / operation.x[1];
  const std::int64_t outputs = elements_of(operation.y) / operation.y[1];
  const std::int64_t window = elements_of(operation.w) / operation.w[0];  // a group's channels too
  const std::int64_t count = operation.w[0];
  check_terms(outputs, count * window);
  OperationWork work{
      .flops = 2.0 * static_cast<double>(outputs) * static_cast<double>(count * window),
      .moved =
          Bytes{bytes_of_type(operation.type) *
                (elements_of(operation.x) + elements_of(operation.w) + elements_of(operation.y))},
      .kind = OperationKind::kConvolution};
  if (operation.name == "convolution-backward-filter") {
    work.product = {.rows = count, .columns = window, .depth = outputs};
  } else if (operation.name == "convolution-backward-data") {
    const std::int64_t channels = operation.w[1];
    const std::int64_t terms = count * window / channels * outputs / inputs;
    check_terms(inputs, channels);
    work.product = {.rows = inputs, .columns = channels, .depth = std::max<std::int64_t>(terms, 1)};
  } else {
    work.product = {.rows = outputs, .columns = count, .depth = window};
  }
  return work;
}

std::optional<OperationWork> work_of(const LibraryOperation& operation) {
  if (operation.name.starts_with("convolution-")) {
    const bool is_whole =
        operation.x.size() > 1 && operation.w.size() > 1 && operation.y.size() > 1;
    if (!is_whole || elements_of(operation.w) == 0 || elements_of(operation.x) == 0 ||
        elements_of(operation.y) == 0) {
      return {};
    }
    return convolution_work(operation);
  }
  if (operation.name.starts_with("normalisation-") && !operation.x.empty()) {
    const int operands = operation.name == "normalisation-forward" ? 2 : 3;
    return OperationWork{
        .moved = Bytes{operands * bytes_of_type(operation.type) * elements_of(operation.x)},
        .kind = OperationKind::kNormalisation};
  }
  return std::nullopt;
}

}  // namespace

DeviceTime time_of(const KernelLaunch& launch, const GpuDescription& gpu) {
  const std::string_view kernel = launch.kernel;
  const std::int64_t width = bytes_by_name(kernel);
  if (launch.elements > 0) {
    return moved(Bytes{launch.elements * operands_by_name(kernel) * width}, gpu);
  }
  // The name has how many lists there are; the last one is written as well as read.
  if (const auto lists = number_behind(kernel, "TensorListMetadataILi")) {
    return moved(Bytes{launch.blocks * kBlockOfList * (*lists + 1) * width}, gpu);
  }
  constexpr std::int64_t kNumbersOfThread = 4;
  return moved(Bytes{2 * kNumbersOfThread * launch.blocks * launch.threads * 4}, gpu, false);
}

DeviceTime time_of(const MatrixProduct& product, const GpuDescription& gpu) {
  const auto& [m, n, k, batch, type] = product;
  const double terms = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const OperationWork work{.flops = 2 * terms * static_cast<double>(batch),
                           .moved = Bytes{bytes_of_type(type) * batch * (m * k + k * n + m * n)},
                           .kind = OperationKind::kProduct,
                           .product = {.rows = m, .columns = n, .depth = k, .count = batch}};
  return {operation_time(gpu, peak_of(type, gpu, work.kind), work)};
}

DeviceTime time_of(const LibraryCall& call, std::string_view function, const GpuDescription& gpu) {
  DeviceTime all;
  for (const LibraryOperation& operation : call.operations) {
    const auto work = work_of(operation);
    if (!work) {
      all.time = Nanoseconds{0};
      break;
    }
    const double peak = work->flops > 0 ? peak_of(operation.type, gpu, work->kind) : 1;
    all.time += operation_time(gpu, peak, *work);
  }
  if (all.time == Nanoseconds{0}) {
    fail(ErrorKind::kUsage,
         "replaying the log: {}({}) tells no shapes, so that its time is not known; switch cuDNN "
         "off for it (torch.backends.cudnn.flags(enabled=False)) and record the log again",
         function, call.operations.empty() ? "" : call.operations.front().name);
  }
  return all;
}

}  // namespace tandem::replay
