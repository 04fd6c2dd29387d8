// SPDX-License-Identifier: Apache-2.0
//
// An optimizer's update of elements of one tensor, and how many tensors are changed in
// one launch.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/kernels/adam_factors.h"
#include "common/kernels/cuda/device_code.h"
#include "common/kernels/cuda/pack.h"

namespace tandem::cuda {

struct SgdElements {
  struct Tensor {
    const float* gradient;
    float* velocity;
    float* weight;
  };

  float learning_rate;
  float momentum;

  [[nodiscard]] static bool packed(const Tensor& t) {
    return are_packed(t.gradient, t.velocity, t.weight);
  }

  template <int width>
  TANDEM_DEVICE void at(const Tensor& t, std::int64_t i) const {
    const Pack<float, width> g = load<width>(t.gradient + i);
    Pack<float, width> v = load<width>(static_cast<const float*>(t.velocity) + i);
    Pack<float, width> w = load<width>(static_cast<const float*>(t.weight) + i);
    for (int j = 0; j < width; ++j) {
      v[j] = momentum * v[j] + g[j];
      w[j] -= learning_rate * v[j];
    }
    store(t.velocity + i, v);
    store(t.weight + i, w);
  }
};

struct AdamElements {
  struct Tensor {
    const float* gradient;
    float* first;
    float* second;
    float* weight;
  };

  const AdamClock* clock;

  [[nodiscard]] static bool packed(const Tensor& t) {
    return are_packed(t.gradient, t.first, t.second, t.weight);
  }

  template <int width>
  TANDEM_DEVICE void at(const Tensor& t, std::int64_t i) const {
    const AdamFactors f = clock->factors;
    const Pack<float, width> g = load<width>(t.gradient + i);
    Pack<float, width> m = load<width>(static_cast<const float*>(t.first) + i);
    Pack<float, width> v = load<width>(static_cast<const float*>(t.second) + i);
    Pack<float, width> w = load<width>(static_cast<const float*>(t.weight) + i);
    for (int j = 0; j < width; ++j) {
      m[j] += f.first_gain * (g[j] - m[j]);
      v[j] = f.second_decay * v[j] + f.second_gain * g[j] * g[j];
      w[j] = f.kept * w[j] - f.step_size * m[j] / (std::sqrt(v[j]) / f.second_root + f.epsilon);
    }
    store(t.first + i, m);
    store(t.second + i, v);
    store(t.weight + i, w);
  }
};

// Counts Adam's step and makes its factors: one element, in a launch before the update's.
struct AdamClockElement {
  AdamClock* clock;
  AdamRates rates;

  template <int width>
  TANDEM_DEVICE void at(std::int64_t /*i*/) const {
    static_assert(width == 1, "there is one clock");
    const float steps = clock->steps + 1;
    const auto t = static_cast<double>(steps);
    clock->steps = steps;
    clock->factors =
        adam_factors(rates, 1 - std::pow(rates.beta1, t), std::sqrt(1 - std::pow(rates.beta2, t)));
  }
};

// `Update` at the elements of several tensors. As in torch's multi_tensor_apply the tensors'
// addresses are parameters of the kernel, of which every GPU takes 4 KiB. Each tensor begins with a
// block of threads of its own, so that all threads of a block find the same tensor.
template <class Update>
class EachTensor {
 public:
  using Tensor = typename Update::Tensor;

  explicit EachTensor(const Update& update) : update_(update) {}

  [[nodiscard]] bool is_full() const { return size_ == kMost; }

  // Elements that for_each() is to visit, the rest of each tensor's last block included.
  [[nodiscard]] std::int64_t count() const { return blocks() * kSpan; }

  void add(const Tensor& tensor, std::int64_t count) {
    if (count == 0) return;
    const std::int64_t end = blocks() + ceil_div(count, kSpan);
    entries_[size_++] = {tensor, count, static_cast<std::int32_t>(end), update_.packed(tensor)};
  }

  [[nodiscard]] bool packed() const { return true; }  // each tensor by itself

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    const int which = tensor_of(i / kSpan);
    const Entry& entry = entries_[which];
    const std::int64_t begin = which == 0 ? 0 : entries_[which - 1].end;
    const std::int64_t first = i - begin * kSpan;
    if (entry.is_packed && first + width <= entry.count) {
      return update_.template at<width>(entry.tensor, first);
    }
    for (std::int64_t j = first; j < first + width && j < entry.count; ++j) {
      update_.template at<1>(entry.tensor, j);
    }
  }

 private:
  struct Entry {
    Tensor tensor;
    std::int64_t count;  // elements
    std::int32_t end;    // block behind the tensor's last one
    bool is_packed;
  };

  static constexpr std::int64_t kSpan = std::int64_t{kThreads} * kPack;  // elements of a block
  static constexpr int kMost = static_cast<int>((4096 - 32 - sizeof(Update)) / sizeof(Entry));

  [[nodiscard]] std::int64_t blocks() const { return size_ == 0 ? 0 : entries_[size_ - 1].end; }

  [[nodiscard]] TANDEM_DEVICE int tensor_of(std::int64_t block) const {
    int low = 0;
    for (int high = size_ - 1; low < high;) {
      const int middle = (low + high) / 2;
      if (entries_[middle].end > block) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  Update update_;
  int size_ = 0;
  Entry entries_[kMost] = {};
};

}  // namespace tandem::cuda
