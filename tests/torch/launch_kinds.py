# SPDX-License-Identifier: Apache-2.0
"""The kinds of kernels that torch and Tandem launch beside products and convolutions, by their names."""
import collections
import re

# A kernel is of the first kind whose pattern its mangled name holds: (kind, in torch, in Tandem).
KINDS = [
    ("division into buckets", "AUnaryFunctor.*MulFunctor", "ScaleElements"),
    ("activations", "launch_clamp_scalar|threshold_kernel|GeluBackward|GeluCUDA", r"\dBackwardElements"),
    ("batch normalisation", None, "MomentTerms|BatchStatistics|BatchNorm|GradientTerms|ParameterGradients"),
    ("batch counters", "CUDAFunctorOnSelf_addIl", "AddScalarElements"),
    ("layer normalisation", "layer_norm|GammaBetaBackward", "NormForwardRows|NormGradientSums|NormBackwardRows"),
    ("attention", "fmha_cutlass|13BinaryFunctor.*MulFunctor|reduce_kernelILi512ELi1E.*sum_functor|19CatArrayBatchedCopyI",
     "SoftmaxRows|SoftmaxBackwardRows"),
    ("loss", "mse_|reduce_kernelILi512ELi1E.*MeanOps|nll_loss|softmax_warp|FillFunctor", "MseSum|CrossEntropy"),
    ("pools", "max_pool|MeanOps|BUnaryFunctor.*MulFunctor", "MaxPool|AveragePool"),
    ("bias gradients", "sum_functor", None),
    ("sums of branches", "CUDAFunctor_addI", None),
    ("embeddings", "scatter_gather_elementwise|arange|embedding_backward", "EmbeddingElements|PlaceGradient|TokenGradient"),
    ("optimizer", "multi_tensor_apply", "SgdElements"),
    ("flattening", "CatArrayBatchedCopy_", None),
    ("other layout", "direct_copy_kernel", None),
]


def kind_of(name, side):
    """`side` is 1 of torch, 2 of Tandem. A kernel that no pattern knows is a kind of its own, by its name."""
    return next((kind[0] for kind in KINDS if kind[side] and re.search(kind[side], name)), name)


def table(torch, ours):
    """{kind: [launches of torch, of Tandem]} of two steps, in the order of the kinds."""
    counts = [collections.Counter(), collections.Counter()]
    for side, kernels in enumerate((torch.kernels, ours.kernels)):
        for name, count in kernels.items():
            counts[side][kind_of(name, side + 1)] += count
    known = [kind[0] for kind in KINDS]
    kinds = [kind for kind in known if counts[0][kind] or counts[1][kind]]
    kinds += sorted((counts[0].keys() | counts[1].keys()) - set(known))
    return {kind: [counts[0][kind], counts[1][kind]] for kind in kinds}
