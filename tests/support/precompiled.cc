// SPDX-License-Identifier: Apache-2.0
//
// Holds nothing: what all tests include is precompiled with it.
