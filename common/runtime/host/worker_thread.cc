// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/worker_thread.h"

#include <sys/prctl.h>

#include <ctime>

#include "common/runtime/host/cores.h"
#include "common/runtime/host/openmp_threads.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tandem::host {

namespace {

// Flushes denormals to zero, as GPUs do: a training loop that drifts into denormals runs tens of
// times slower.
void flush_denormals() {
#if defined(__x86_64__)
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
  _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
#endif
}

}  // namespace

void prepare_worker_thread(int core) {
  bind_this_thread(core);
  omp_set_num_threads(1);
  flush_denormals();
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

}  // namespace tandem::host
