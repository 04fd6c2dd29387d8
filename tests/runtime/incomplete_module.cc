// SPDX-License-Identifier: Apache-2.0
int tandem_absent();
extern "C" int tandem_cuda_module() { return tandem_absent(); }
