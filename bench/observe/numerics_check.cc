// SPDX-License-Identifier: Apache-2.0
#include "bench/observe/numerics_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/base/error.h"
#include "common/runtime/copy.h"

namespace tandem::bench {

struct NumericsCheck::Side {
  std::unique_ptr<Buffer> copies;  // on the host, laid out like the parameters
  TensorList views;
  std::vector<int> ready;  // segments since the last look, in backward's order
  std::int64_t steps = 0;  // steps that have ended
};

NumericsCheck::NumericsCheck(Platform& platform, const ParameterLayout& layout,
                             std::optional<int> rank)
    : platform_(platform), layout_(layout), rank_(rank) {
  for (int i = 0; i < platform.device_count(); ++i) sides_.push_back(std::make_unique<Side>());
}

NumericsCheck::~NumericsCheck() = default;

void NumericsCheck::gradient_ready(Device& device, Stream& stream, int segment,
                                   Span<float> gradient) {
  Side& side = *sides_.at(static_cast<std::size_t>(device.id().index));
  if (!side.copies) {  // only this process's devices have a side in use
    side.copies = platform_.allocate_host(bytes_of<float>(layout_.arena_count()));
    side.views = layout_.views(side.copies->as<float>(layout_.arena_count()));
  }
  // The gradient of a later micro-batch comes while the earlier one's copy is not yet checked.
  const bool again = std::find(side.ready.begin(), side.ready.end(), segment) != side.ready.end();
  if (again) look(side, stream, device);
  enqueue_copy(stream, side.views.at(static_cast<std::size_t>(segment)), gradient);
  side.ready.push_back(segment);
}

void NumericsCheck::step_ends(Device& device, Stream& stream) {
  Side& side = *sides_.at(static_cast<std::size_t>(device.id().index));
  look(side, stream, device);
  ++side.steps;
}

void NumericsCheck::look(Side& side, Stream& stream, const Device& device) {
  stream.synchronize();
  for (const int segment : side.ready) {
    const Span<float> values = side.views[static_cast<std::size_t>(segment)];
    const auto* const bad = std::find_if(values.begin(), values.end(),
                                         [](float value) { return !std::isfinite(value); });
    if (bad != values.end()) report(side, device, segment, bad - values.begin());
  }
  side.ready.clear();
}

void NumericsCheck::report(const Side& side, const Device& device, int segment,
                           std::int64_t element) const {
  const auto index = static_cast<std::size_t>(segment);
  const auto has_some = [&](int other) {
    const Span<float> values = side.views[static_cast<std::size_t>(other)];
    return !std::all_of(values.begin(), values.end(),
                        [](float value) { return std::isfinite(value); });
  };
  const auto others = std::count_if(side.ready.begin(), side.ready.end(), has_some) - 1;
  fail(ErrorKind::kFailure,
       "rank {}: the gradient of {} holds {} (element {}) in step {}, the first in backward's order"
       "{}: look at the data, the learning rate and the weights",
       rank_.value_or(device.id().index), layout_.segments()[index].name,
       side.views[index].data()[element], element, side.steps + 1,
       others > 0 ? fmt::format(", and {} others hold some", others) : "");
}

}  // namespace tandem::bench
