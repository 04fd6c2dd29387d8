// SPDX-License-Identifier: Apache-2.0
//
// How functions answer that no code of their own stands behind: accepted ones succeed and are
// logged, refused ones are named once and say that they are not supported.
#pragma once

namespace tandem::pretend {

// Logs the call by name.
void accept(const char* library, const char* function);

// Says once per function, on stderr, that Tandem does not know what it answers.
void refuse(const char* library, const char* function);

}  // namespace tandem::pretend
