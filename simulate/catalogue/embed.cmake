# SPDX-License-Identifier: Apache-2.0
# cmake -DGPUS=gpus.json -DMACHINES=machines.json -DPUBLISHED=published.json -DOUTPUT=file.cc -P embed.cmake
# Writes a C++ file with the catalogue's texts, so that every program has them without a path.
cmake_minimum_required(VERSION 3.19)
file(READ ${GPUS} gpus)
file(READ ${MACHINES} machines)
file(READ ${PUBLISHED} published)
file(WRITE ${OUTPUT} "// Made from ${GPUS}, ${MACHINES} and ${PUBLISHED}.
#include \"simulate/catalogue/catalogue_texts.h\"

namespace tandem {
std::string_view catalogue_gpus() { return R\"json(${gpus})json\"; }
std::string_view catalogue_machines() { return R\"json(${machines})json\"; }
std::string_view catalogue_published() { return R\"json(${published})json\"; }
}  // namespace tandem
")
