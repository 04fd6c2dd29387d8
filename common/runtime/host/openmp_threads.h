// SPDX-License-Identifier: Apache-2.0
//
// The calling thread's number of OpenMP threads, in the runtime that oneDNN computes with: GNU's.
// Declared by hand, as omp.h declares both functions. The omp.h of clang would bring the runtime of
// LLVM, whose number is another one, so that oneDNN would go on with a thread for every core.
#pragma once

extern "C" {
int omp_get_max_threads() noexcept;
void omp_set_num_threads(int count) noexcept;
}
