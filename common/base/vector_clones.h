// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stands before a function whose loops vectorise: compiles the function for the vector widths of
// x86 and picks one when the program is loaded, so that a portable build still runs at the
// machine's width. Empty on other machines, and under the sanitizers, whose runtime is not up yet
// when the choice is made.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TANDEM_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TANDEM_VECTOR_CLONES
#endif

// Stands before a loop where each output is one of the inputs or apart from all of them: no
// iteration reads what another writes. Without this pragma the compiler's own overlap test sends
// every in-place call to the scalar loop.
#if defined(__GNUC__) && !defined(__clang__)
#define TANDEM_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define TANDEM_INDEPENDENT_ITERATIONS
#endif
