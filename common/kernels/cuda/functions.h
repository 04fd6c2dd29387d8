// SPDX-License-Identifier: Apache-2.0
//
// Every function that there are kernels of: what is launched is made for these types, and so are
// the stand-ins for it. X(type).
#pragma once

#include "common/kernels/cuda/batch_norm_parts.h"
#include "common/kernels/cuda/elementwise.h"
#include "common/kernels/cuda/pool_elements.h"
#include "common/kernels/cuda/row_functions.h"
#include "common/kernels/cuda/transformer_elements.h"
#include "common/kernels/cuda/update_elements.h"

// The functions that for_each() takes.
#define TANDEM_EACH_ELEMENTWISE(X)         \
  X(ReluBackwardElements<float>)           \
  X(ReluBackwardElements<BFloat16>)        \
  X(GeluBackwardElements<float>)           \
  X(GeluBackwardElements<BFloat16>)        \
  X(ScaleElements)                         \
  X(FillElements)                          \
  X(AddScalarElements)                     \
  X(AddElements)                           \
  X(SubtractElements)                      \
  X(MseBackwardElements)                   \
  X(EachTensor<SgdElements>)               \
  X(EachTensor<AdamElements>)              \
  X(AdamClockElement)                      \
  X(ConvertElements<float, BFloat16>)      \
  X(ConvertElements<float, Float16>)       \
  X(ConvertElements<BFloat16, float>)      \
  X(ConvertElements<Float16, float>)       \
  X(BiasActivationElements<float>)         \
  X(BiasActivationElements<BFloat16>)      \
  X(EmbeddingElements)                     \
  X(PlaceGradientElements)                 \
  X(NormGradientParts<float>)              \
  X(NormGradientParts<BFloat16>)           \
  X(NormGradientSums)                      \
  X(MomentParts<float>)                    \
  X(MomentParts<BFloat16>)                 \
  X(BatchGradientParts<float>)             \
  X(BatchGradientParts<BFloat16>)          \
  X(BatchNormForwardElements<float>)       \
  X(BatchNormForwardElements<BFloat16>)    \
  X(BatchNormBackwardElements<float>)      \
  X(BatchNormBackwardElements<BFloat16>)   \
  X(MaxPoolForwardElements<float>)         \
  X(MaxPoolForwardElements<BFloat16>)      \
  X(MaxPoolBackwardElements<float>)        \
  X(MaxPoolBackwardElements<BFloat16>)     \
  X(AveragePoolForwardElements<float>)     \
  X(AveragePoolForwardElements<BFloat16>)  \
  X(AveragePoolBackwardElements<float>)    \
  X(AveragePoolBackwardElements<BFloat16>) \
  X(FillBlocks<Uniform>)                   \
  X(FillBlocks<SmallIntegers>)

// The functions that for_each_row() takes.
#define TANDEM_EACH_ROWWISE(X)     \
  X(NormForwardRows<float>)        \
  X(NormForwardRows<BFloat16>)     \
  X(NormBackwardRows<float>)       \
  X(NormBackwardRows<BFloat16>)    \
  X(SoftmaxRows<float>)            \
  X(SoftmaxRows<BFloat16>)         \
  X(SoftmaxBackwardRows<float>)    \
  X(SoftmaxBackwardRows<BFloat16>) \
  X(TokenGradientRows)             \
  X(MomentParts<float>)            \
  X(MomentParts<BFloat16>)         \
  X(BatchGradientParts<float>)     \
  X(BatchGradientParts<BFloat16>)  \
  X(BatchStatistics<float>)        \
  X(BatchStatistics<BFloat16>)     \
  X(BatchParameterGradients)       \
  X(CrossEntropyBackwardRows)

// The functions that sum_rows() takes.
#define TANDEM_EACH_ROW_SUM(X) X(CrossEntropySum)
