// SPDX-License-Identifier: Apache-2.0
//
// options_reference FILE: writes docs/options.md.
#include <fstream>
#include <iostream>

#include "common/options/reference.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "options_reference: give the file to write\n";
    return 2;
  }
  std::ofstream file(argv[1], std::ios::binary);
  file << tandem::options::reference() << std::flush;
  if (file) return 0;
  std::cerr << "options_reference: " << argv[1] << " could not be written\n";
  return 1;
}
