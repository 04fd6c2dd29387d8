// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/stand_in_cudnn_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tandem::test::stand_in {
namespace {

// What an operation's attributes are called; the last two may be absent.
struct StepNames {
  cudnnBackendAttributeName_t how, to;
  std::array<cudnnBackendAttributeName_t, 3> from;
  std::size_t needed;  // of `from`
};

const StepNames* step_names_of(cudnnBackendDescriptorType_t type) {
  static const std::map<cudnnBackendDescriptorType_t, StepNames> all{
      {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_MATMUL_DESC,
        CUDNN_ATTR_OPERATION_MATMUL_CDESC,
        {CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_ATTR_OPERATION_MATMUL_BDESC},
        2}},
      {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
        CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
        {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
         CUDNN_ATTR_OPERATION_POINTWISE_TDESC},
        1}},
      {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_REDUCTION_DESC,
        CUDNN_ATTR_OPERATION_REDUCTION_YDESC,
        {CUDNN_ATTR_OPERATION_REDUCTION_XDESC},
        1}},
      {CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_RESHAPE_XDESC,  // nothing says how
        CUDNN_ATTR_OPERATION_RESHAPE_YDESC,
        {CUDNN_ATTR_OPERATION_RESHAPE_XDESC},
        1}}};
  const auto found = all.find(type);
  return found == all.end() ? nullptr : &found->second;
}

std::int64_t dot(const Quad& index, const Quad& strides) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < 4; ++i) sum += index[i] * strides[i];
  return sum;
}

template <class Body>
void each_index(const Quad& sizes, const Body& body) {
  Quad i{};
  for (i[0] = 0; i[0] < sizes[0]; ++i[0])
    for (i[1] = 0; i[1] < sizes[1]; ++i[1])
      for (i[2] = 0; i[2] < sizes[2]; ++i[2])
        for (i[3] = 0; i[3] < sizes[3]; ++i[3]) body(i);
}

std::vector<std::shared_ptr<const Contents>> operations_in(const Contents& graph) {
  return graph.attributes.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).others;
}

GraphTensor graph_tensor_of(const Contents& contents) {
  GraphTensor tensor{.id = contents.one<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID),
                     .type = contents.one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE),
                     .is_virtual = contents.one<std::uint8_t>(CUDNN_ATTR_TENSOR_IS_VIRTUAL) != 0,
                     .by_value = contents.one<std::uint8_t>(CUDNN_ATTR_TENSOR_IS_BY_VALUE) != 0};
  std::ranges::copy(contents.all<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS), tensor.sizes.begin());
  std::ranges::copy(contents.all<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES), tensor.strides.begin());
  return tensor;
}

double pointwise(cudnnPointwiseMode_t mode, double x, double b, double t) {
  switch (mode) {
    case CUDNN_POINTWISE_ADD:
      return x + b;
    case CUDNN_POINTWISE_SUB:
      return x - b;
    case CUDNN_POINTWISE_MUL:
      return x * b;
    case CUDNN_POINTWISE_DIV:
      return x / b;
    case CUDNN_POINTWISE_EXP:
      return std::exp(x);
    case CUDNN_POINTWISE_LOG:
      return std::log(x);
    case CUDNN_POINTWISE_CMP_GE:
      return x >= b ? 1 : 0;
    case CUDNN_POINTWISE_BINARY_SELECT:
      return t != 0 ? x : b;
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

void run_pointwise(const GraphStep& step) {
  const auto mode = static_cast<cudnnPointwiseMode_t>(step.how);
  each_index(step.to.sizes, [&](const Quad& i) {
    if (mode == CUDNN_POINTWISE_GEN_INDEX) {
      const auto axis = static_cast<std::size_t>(step.axis);
      return step.to.put(step.to.at(i), static_cast<double>(i[axis]));
    }
    const auto value = [&](std::size_t which) {
      return which < step.from.size() ? step.from[which].get(step.from[which].at(i)) : 0;
    };
    step.to.put(step.to.at(i), pointwise(mode, value(0), value(1), value(2)));
  });
}

void run_product(const GraphStep& step) {
  const auto& a = step.from[0];
  const auto& b = step.from[1];
  each_index(step.to.sizes, [&](const Quad& i) {
    double sum = 0;
    for (std::int64_t k = 0; k < a.sizes[3]; ++k) {
      sum += a.get(a.at({i[0], i[1], i[2], k})) * b.get(b.at({i[0], i[1], k, i[3]}));
    }
    step.to.put(step.to.at(i), sum);
  });
}

void run_reduction(const GraphStep& step) {
  const bool most = step.how == CUDNN_REDUCE_TENSOR_MAX;
  const auto& x = step.from[0];
  each_index(step.to.sizes, [&](const Quad& i) {
    double all = most ? -std::numeric_limits<double>::infinity() : 0;
    for (std::int64_t k = 0; k < x.sizes[3]; ++k) {
      const double value = x.get(x.at({i[0], i[1], i[2], k}));
      all = most ? std::max(all, value) : all + value;
    }
    step.to.put(step.to.at(i), all);
  });
}

void run_reshape(const GraphStep& step) {
  each_index(step.to.sizes, [&](const Quad& i) {
    const std::int64_t offset = dot(i, step.to.strides);
    step.to.put(offset, step.from[0].get(offset));
  });
}

bool fits(const GraphStep& step) {
  const Quad& to = step.to.sizes;
  if (step.type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR) {
    const Quad& a = step.from[0].sizes;
    const Quad& b = step.from[1].sizes;
    return a[3] == b[2] && a[2] == to[2] && b[3] == to[3] && a[0] == to[0] && a[1] == to[1];
  }
  if (step.type == CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR) return to[3] == 1;
  return true;
}

int how_of(const Contents& operation, const StepNames& names) {
  const Contents* const how = operation.other(names.how);
  if (how == nullptr) return -1;
  if (operation.type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR) {
    return how->one<int>(CUDNN_ATTR_POINTWISE_MODE, -1);
  }
  return how->one<int>(CUDNN_ATTR_REDUCTION_OPERATOR, 0);
}

GraphStep step_of(const Contents& operation) {
  const StepNames& names = *step_names_of(operation.type);
  GraphStep step{.type = operation.type, .how = how_of(operation, names)};
  if (const Contents* const how = operation.other(names.how)) {
    step.axis = how->one<std::int64_t>(CUDNN_ATTR_POINTWISE_AXIS);
  }
  for (const auto name : names.from) {
    if (const Contents* const other = operation.other(name))
      step.from.push_back(graph_tensor_of(*other));
  }
  step.to = graph_tensor_of(*operation.other(names.to));
  return step;
}

}  // namespace

std::int64_t GraphTensor::at(const Quad& index) const {
  Quad own_index{};
  for (std::size_t i = 0; i < 4; ++i) own_index[i] = sizes[i] == 1 ? 0 : index[i];
  return dot(own_index, strides);
}

double GraphTensor::get(std::int64_t offset) const {
  if (own) return own->at(static_cast<std::size_t>(offset));
  const StridedTensor memory{.data = data, .narrow = type == CUDNN_DATA_BFLOAT16};
  return memory.get(offset);
}

void GraphTensor::put(std::int64_t offset, double value) const {
  const bool narrow = type == CUDNN_DATA_BFLOAT16;
  if (!own) return StridedTensor{.data = data, .narrow = narrow}.put(offset, value);
  const auto rounded = static_cast<float>(value);
  own->at(static_cast<std::size_t>(offset)) =
      narrow ? static_cast<double>(static_cast<float>(BFloat16(rounded)))
             : static_cast<double>(rounded);
}

void GraphStep::run() const {
  switch (type) {
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
      return run_product(*this);
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
      return run_reduction(*this);
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
      return run_reshape(*this);
    default:
      return run_pointwise(*this);
  }
}

bool is_step(cudnnBackendDescriptorType_t type) { return step_names_of(type) != nullptr; }

bool is_graph_of_steps(const Contents& graph) {
  return is_step(operations_in(graph).front()->type);
}

std::int64_t samples_in(const Contents& graph) {
  return step_of(*operations_in(graph).front()).to.sizes[0];
}

bool is_sound_step(const Contents& operation) {
  const StepNames& names = *step_names_of(operation.type);
  for (std::size_t i = 0; i < names.needed; ++i) {
    if (operation.other(names.from[i]) == nullptr) return false;
  }
  return operation.other(names.how) != nullptr && operation.other(names.to) != nullptr &&
         fits(step_of(operation));
}

std::optional<std::vector<GraphStep>> steps_of(
    const Contents& graph, const std::function<std::byte*(const Contents& tensor)>& address) {
  std::map<std::int64_t, GraphTensor> known;
  bool placed = true;
  const auto place = [&](GraphTensor& tensor, const Contents& contents) {
    if (const auto found = known.find(tensor.id); found != known.end()) {
      tensor = found->second;
      return;
    }
    if (tensor.is_virtual) {
      Quad last = tensor.sizes;
      for (std::int64_t& size : last) --size;
      tensor.own = std::make_shared<std::vector<double>>(dot(last, tensor.strides) + 1);
    } else {
      tensor.data = address(contents);
      placed = placed && tensor.data != nullptr;
    }
    if (tensor.by_value && tensor.data != nullptr) {
      const double number = static_cast<double>(*reinterpret_cast<const float*>(tensor.data));
      tensor.own = std::make_shared<std::vector<double>>(1, number);
    }
    known.emplace(tensor.id, tensor);
  };
  std::vector<GraphStep> steps;
  for (const auto& operation : operations_in(graph)) {
    GraphStep step = step_of(*operation);
    const StepNames& names = *step_names_of(operation->type);
    for (std::size_t i = 0; i < step.from.size(); ++i) {
      place(step.from[i], *operation->other(names.from[i]));
    }
    place(step.to, *operation->other(names.to));
    steps.push_back(std::move(step));
  }
  if (!placed) return std::nullopt;
  return steps;
}

}  // namespace tandem::test::stand_in
