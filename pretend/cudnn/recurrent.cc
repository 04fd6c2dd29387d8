// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers of the pretended cuDNN. Weights lie in one space: the matrices of all layers
// first, then all biases; within a layer (of one direction) those of the input for each gate, then
// the recurrent ones, then the projection. torch makes its parameters views into that space.
#include <array>
#include <cstdint>

#include "pretend/abi/cudnn.h"
#include "pretend/core/library_types.h"
#include "pretend/cudnn/handle.h"

using namespace tandem::pretend;

namespace {

int gates_of(const DnnRnn& rnn) {
  return rnn.cell == abi::kRnnLstm ? 4 : rnn.cell == abi::kRnnGru ? 3 : 1;
}

int directions_of(const DnnRnn& rnn) { return rnn.bidirectional != 0 ? 2 : 1; }

// What a layer gives: the hidden state, or its projection.
int64_t output_of(const DnnRnn& rnn) {
  return rnn.projection > 0 && rnn.projection < rnn.hidden ? rnn.projection : rnn.hidden;
}

bool has_projection(const DnnRnn& rnn) { return output_of(rnn) != rnn.hidden; }

int64_t input_of(const DnnRnn& rnn, int pseudo_layer) {
  return pseudo_layer < directions_of(rnn) ? rnn.input : output_of(rnn) * directions_of(rnn);
}

int64_t matrix_elements(const DnnRnn& rnn, int pseudo_layer) {
  const int64_t from_input = gates_of(rnn) * rnn.hidden * input_of(rnn, pseudo_layer);
  const int64_t recurrent = gates_of(rnn) * rnn.hidden * output_of(rnn);
  return from_input + recurrent + (has_projection(rnn) ? rnn.hidden * output_of(rnn) : 0);
}

// Biases are of the input and recurrent, or of one kind alone.
int64_t bias_elements(const DnnRnn& rnn) {
  const int kinds = rnn.bias == abi::kRnnNoBias ? 0 : rnn.bias == abi::kRnnDoubleBias ? 2 : 1;
  return static_cast<int64_t>(kinds) * gates_of(rnn) * rnn.hidden;
}

int pseudo_layers_of(const DnnRnn& rnn) { return rnn.layers * directions_of(rnn); }

int64_t matrices_before(const DnnRnn& rnn, int pseudo_layer) {
  int64_t elements = 0;
  for (int layer = 0; layer < pseudo_layer; ++layer) elements += matrix_elements(rnn, layer);
  return elements;
}

// A part of the weight space: where it begins, in elements, and its shape.
struct Part {
  int64_t offset = 0;
  std::array<int, 3> shape{1, 0, 0};  // an extent of 0: there is no such part
};

Part matrix_part(const DnnRnn& rnn, int pseudo_layer, int number) {
  const int gates = gates_of(rnn);
  const int64_t begin = matrices_before(rnn, pseudo_layer);
  const int64_t input = input_of(rnn, pseudo_layer);
  const auto shaped = [](int64_t rows, int64_t columns) {
    return std::array<int, 3>{1, static_cast<int>(rows), static_cast<int>(columns)};
  };
  const int64_t recurrent = begin + gates * rnn.hidden * input;
  if (number < gates) return {begin + number * rnn.hidden * input, shaped(rnn.hidden, input)};
  if (number < 2 * gates) {
    return {recurrent + (number - gates) * rnn.hidden * output_of(rnn),
            shaped(rnn.hidden, output_of(rnn))};
  }
  if (!has_projection(rnn)) return {};
  return {recurrent + gates * rnn.hidden * output_of(rnn), shaped(output_of(rnn), rnn.hidden)};
}

Part bias_part(const DnnRnn& rnn, int pseudo_layer, int number) {
  const int64_t begin =
      matrices_before(rnn, pseudo_layers_of(rnn)) + pseudo_layer * bias_elements(rnn);
  if ((number + 1) * rnn.hidden > bias_elements(rnn)) return {};
  return {begin + number * rnn.hidden, {1, rnn.hidden, 1}};
}

int64_t element_size(const DnnRnn& rnn) { return bytes_of(abi::from_cudnn(rnn.type)); }

// Fills a descriptor and the address, of which the caller may leave out either; no dimensions and
// no address where there is no such part.
void answer(const DnnRnn& rnn, const Part& part, const char* space, DnnTensor* tensor,
            void** address) {
  const bool exists = part.shape[1] != 0;
  if (tensor != nullptr) {
    *tensor = {};
    tensor->type = rnn.type;
    tensor->count = exists ? 3 : 0;
    tensor->dimensions = {part.shape[0], part.shape[1], part.shape[2]};
    tensor->strides = {part.shape[1] * part.shape[2], part.shape[2], 1};
  }
  if (address != nullptr) {
    *address = exists ? const_cast<char*>(space) + part.offset * element_size(rnn) : nullptr;
  }
}

}  // namespace

extern "C" {

int cudnnSetRNNDescriptor_v8(DnnRnn* rnn, int, int cell, int bias, int direction, int input_mode,
                             int type, int, int, int input, int hidden, int projection, int layers,
                             void*, unsigned) {
  *rnn = {.cell = cell,
          .bias = bias,
          .bidirectional = direction,
          .skip_input = input_mode,
          .type = type,
          .input = input,
          .hidden = hidden,
          .projection = projection,
          .layers = layers};
  return 0;
}

int cudnnGetRNNWeightSpaceSize(const DnnHandle*, const DnnRnn* rnn, uint64_t* bytes) {
  const int64_t elements =
      matrices_before(*rnn, pseudo_layers_of(*rnn)) + pseudo_layers_of(*rnn) * bias_elements(*rnn);
  *bytes = static_cast<uint64_t>(elements * element_size(*rnn));
  return 0;
}

int cudnnGetRNNWeightParams(const DnnHandle*, const DnnRnn* rnn, int pseudo_layer, uint64_t,
                            const char* space, int number, DnnTensor* matrix, void** matrix_address,
                            DnnTensor* bias, void** bias_address) {
  answer(*rnn, matrix_part(*rnn, pseudo_layer, number), space, matrix, matrix_address);
  answer(*rnn, bias_part(*rnn, pseudo_layer, number), space, bias, bias_address);
  return 0;
}

// The reserve keeps gates, cells and outputs of every step, as a training pass needs; the
// workspace is a step's gates for each layer. cuDNN's own sizes are of this order.
int cudnnGetRNNTempSpaceSizes(const DnnHandle*, const DnnRnn* rnn, int training,
                              const DnnRnnData* data, uint64_t* workspace, uint64_t* reserve) {
  const int64_t step = pseudo_layers_of(*rnn) * (gates_of(*rnn) + 2) * rnn->hidden *
                       static_cast<int64_t>(data->batch) * element_size(*rnn);
  *workspace = static_cast<uint64_t>(step);
  if (reserve != nullptr) *reserve = training != 0 ? static_cast<uint64_t>(step * data->steps) : 0;
  return 0;
}

int cudnnRNNForward(const DnnHandle* handle) { return log_library("cudnnRNNForward", handle); }

int cudnnRNNBackwardData_v8(const DnnHandle* handle) {
  return log_library("cudnnRNNBackwardData_v8", handle);
}

int cudnnRNNBackwardWeights_v8(const DnnHandle* handle) {
  return log_library("cudnnRNNBackwardWeights_v8", handle);
}
}
