// SPDX-License-Identifier: Apache-2.0
#pragma once

// Marks what runs in kernels. To the host's compiler it says nothing: the tests run the same code
// there, element by element.
#ifdef __CUDACC__
#define TANDEM_DEVICE __device__
#else
#define TANDEM_DEVICE
#endif
