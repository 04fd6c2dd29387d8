// SPDX-License-Identifier: Apache-2.0
//
// options_reference: prints the tables of a step's options for docs/cli.md.
#include <iostream>

#include "common/options/reference.h"

int main() {
  std::cout << tandem::options::reference() << std::flush;
  return std::cout ? 0 : 1;
}
