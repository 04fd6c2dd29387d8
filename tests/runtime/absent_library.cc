// SPDX-License-Identifier: Apache-2.0
int tandem_absent() { return 1; }
