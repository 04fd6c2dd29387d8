// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tandem::bench {

// Starts this program again without the variables that would change what the program measures
// behind its flags' back: BENCHMARK_* (twins of Google Benchmark's flags, read before main), OMP_*,
// GOMP_*, KMP_*, OPENBLAS_*, MKL_*, DNNL_* and ONEDNN_* (thread counts, instruction sets, and
// affinity that is applied when a library is loaded). Returns where there are no such variables; to
// be called first in main.
void restart_in_clean_environment(char** argv);

}  // namespace tandem::bench
