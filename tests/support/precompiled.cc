// SPDX-License-Identifier: Apache-2.0
//
// Holds nothing: what most tests include is precompiled with it.
