// SPDX-License-Identifier: Apache-2.0
//
// The calling thread's number of OpenMP threads in GNU's runtime, with which oneDNN computes. Both
// functions are declared by hand, as omp.h declares both. The omp.h of clang would bring LLVM's
// runtime, whose number is a different one, so that oneDNN would still use a thread for every core.
#pragma once

extern "C" {
int omp_get_max_threads() noexcept;
void omp_set_num_threads(int count) noexcept;
}
