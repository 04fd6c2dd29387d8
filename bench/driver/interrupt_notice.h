// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tandem::bench {

// From now on a SIGINT (Ctrl-C) that ends this process is told of in a line on stderr, by rank 0
// where a launcher started several ranks; the process ends as before. Does nothing where SIGINT is
// ignored.
void tell_of_interrupt(const std::string& program);

}  // namespace tandem::bench
