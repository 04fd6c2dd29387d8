// SPDX-License-Identifier: Apache-2.0
//
// Every function that there are kernels of: what is launched is made for these types, and so are
// the stand-ins for it. X(type).
#pragma once

#include "common/kernels/cuda/activation.cuh"
#include "common/kernels/cuda/attention.cuh"
#include "common/kernels/cuda/batch_norm.cuh"
#include "common/kernels/cuda/column_sums.cuh"
#include "common/kernels/cuda/elementwise.cuh"
#include "common/kernels/cuda/embedding.cuh"
#include "common/kernels/cuda/layer_norm.cuh"
#include "common/kernels/cuda/linear.cuh"
#include "common/kernels/cuda/losses.cuh"
#include "common/kernels/cuda/pooling.cuh"
#include "common/kernels/cuda/updates.cuh"

#define TANDEM_OF_BOTH_TYPES(X, ...) X(__VA_ARGS__<float>) X(__VA_ARGS__<BFloat16>)

// The functions that for_each() takes.
#define TANDEM_EACH_ELEMENTWISE(X)                     \
  TANDEM_OF_BOTH_TYPES(X, ReluBackwardElements)        \
  TANDEM_OF_BOTH_TYPES(X, GeluBackwardElements)        \
  TANDEM_OF_BOTH_TYPES(X, BiasActivationElements)      \
  TANDEM_OF_BOTH_TYPES(X, MseBackwardElements)         \
  TANDEM_OF_BOTH_TYPES(X, BatchNormForwardElements)    \
  TANDEM_OF_BOTH_TYPES(X, BatchNormBackwardElements)   \
  TANDEM_OF_BOTH_TYPES(X, MaxPoolForwardElements)      \
  TANDEM_OF_BOTH_TYPES(X, MaxPoolBackwardElements)     \
  TANDEM_OF_BOTH_TYPES(X, AveragePoolForwardElements)  \
  TANDEM_OF_BOTH_TYPES(X, AveragePoolBackwardElements) \
  X(ScaleElements)                                     \
  X(FillElements)                                      \
  X(EachTensor<AddScalarElements>)                     \
  X(AddElements)                                       \
  X(EachTensor<SgdElements>)                           \
  X(EachTensor<AdamElements>)                          \
  X(AdamClockElement)                                  \
  X(EachTensor<ConvertElements<float, BFloat16>>)      \
  X(EachTensor<ConvertElements<float, Float16>>)       \
  X(EachTensor<ConvertElements<BFloat16, float>>)      \
  X(EachTensor<ConvertElements<Float16, float>>)       \
  X(EmbeddingElements)                                 \
  X(PlaceGradientElements)                             \
  X(FillBlocks<Uniform>)                               \
  X(FillBlocks<SmallIntegers>)

// The functions that sum_stretches() takes.
#define TANDEM_EACH_STRETCH_SUM(X)      \
  X(StretchSums<MomentTerms<float>>)    \
  X(StretchSums<MomentTerms<BFloat16>>) \
  X(StretchSums<GradientTerms<float>>)  \
  X(StretchSums<GradientTerms<BFloat16>>)

// The functions that for_each_row() takes.
#define TANDEM_EACH_ROWWISE(X)                 \
  TANDEM_OF_BOTH_TYPES(X, NormForwardRows)     \
  TANDEM_OF_BOTH_TYPES(X, NormBackwardRows)    \
  TANDEM_OF_BOTH_TYPES(X, SoftmaxRows)         \
  TANDEM_OF_BOTH_TYPES(X, SoftmaxBackwardRows) \
  TANDEM_OF_BOTH_TYPES(X, BatchStatistics)     \
  TANDEM_OF_BOTH_TYPES(X, CrossEntropyRows)    \
  X(NormGradientSums)                          \
  X(ParameterGradients)                        \
  X(TokenGradientRows)

// The functions that sum_rows() takes.
#define TANDEM_EACH_ROW_SUM(X)              \
  TANDEM_OF_BOTH_TYPES(X, CrossEntropyRows) \
  TANDEM_OF_BOTH_TYPES(X, MseSum)           \
  X(WeightedSumSum)
