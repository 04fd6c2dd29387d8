// SPDX-License-Identifier: Apache-2.0
//
// Legacy descriptors of the pretended cuDNN. Tensors and filters keep their shapes; what nothing
// asks about again (activations, poolings, losses) is a descriptor without contents.
#include <algorithm>

#include "pretend/core/put.h"
#include "pretend/cudnn/handle.h"

using namespace tandem::pretend;

namespace {

void set_dimensions(DnnTensor& tensor, int type, int count, const int* dimensions) {
  tensor.type = type;
  tensor.count = std::min(count, DnnTensor::kMostDimensions);
  std::copy_n(dimensions, tensor.count, tensor.dimensions.begin());
}

int get_dimensions(const DnnTensor& tensor, int wanted, int* type, int* count, int* dimensions) {
  *type = tensor.type;
  *count = tensor.count;
  std::copy_n(tensor.dimensions.begin(), std::min(wanted, tensor.count), dimensions);
  return 0;
}

struct Empty {};

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses)
#define TANDEM_DESCRIPTOR(kind, Type)                                                         \
  extern "C" int cudnnCreate##kind##Descriptor(Type** made) { return put(made, new Type{}); } \
  extern "C" int cudnnDestroy##kind##Descriptor(Type* made) { return destroy(made); }
TANDEM_DESCRIPTOR(Tensor, DnnTensor)
TANDEM_DESCRIPTOR(Filter, DnnTensor)
TANDEM_DESCRIPTOR(RNN, DnnRnn)
TANDEM_DESCRIPTOR(RNNData, DnnRnnData)
TANDEM_DESCRIPTOR(Convolution, Empty)
TANDEM_DESCRIPTOR(Activation, Empty)
TANDEM_DESCRIPTOR(Dropout, Empty)
TANDEM_DESCRIPTOR(Pooling, Empty)
TANDEM_DESCRIPTOR(CTCLoss, Empty)
TANDEM_DESCRIPTOR(SpatialTransformer, Empty)
TANDEM_DESCRIPTOR(LRN, Empty)
TANDEM_DESCRIPTOR(OpTensor, Empty)
TANDEM_DESCRIPTOR(ReduceTensor, Empty)
// NOLINTEND(bugprone-macro-parentheses)

extern "C" {

int cudnnSetTensorNdDescriptor(DnnTensor* tensor, int type, int count, const int* dimensions,
                               const int* strides) {
  set_dimensions(*tensor, type, count, dimensions);
  std::copy_n(strides, tensor->count, tensor->strides.begin());
  return 0;
}

int cudnnGetTensorNdDescriptor(const DnnTensor* tensor, int wanted, int* type, int* count,
                               int* dimensions, int* strides) {
  std::copy_n(tensor->strides.begin(), std::min(wanted, tensor->count), strides);
  return get_dimensions(*tensor, wanted, type, count, dimensions);
}

int cudnnSetFilterNdDescriptor(DnnTensor* filter, int type, int format, int count,
                               const int* dimensions) {
  set_dimensions(*filter, type, count, dimensions);
  filter->format = format;
  return 0;
}

int cudnnGetFilterNdDescriptor(const DnnTensor* filter, int wanted, int* type, int* format,
                               int* count, int* dimensions) {
  *format = filter->format;
  return get_dimensions(*filter, wanted, type, count, dimensions);
}

int cudnnSetRNNDataDescriptor(DnnRnnData* data, int type, int, int steps, int batch, int vector,
                              const int*, void*) {
  *data = {type, steps, batch, vector};
  return 0;
}
}
