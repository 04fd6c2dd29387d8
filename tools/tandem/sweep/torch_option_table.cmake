# SPDX-License-Identifier: Apache-2.0
# cmake -DINPUT=options.json -DOUTPUT=file.cc -P torch_option_table.cmake
# Writes a C++ file with torch_options(), the table of the options of torch's cells.
cmake_minimum_required(VERSION 3.19)
file(READ ${INPUT} list)
string(JSON count LENGTH "${list}")
math(EXPR last "${count} - 1")
set(rows "")
foreach(index RANGE ${last})
  string(APPEND rows "{")
  foreach(field name of values least usual help)
    string(JSON value ERROR_VARIABLE absent GET "${list}" ${index} ${field})
    if(absent)
      continue()
    elseif(field STREQUAL least)
      string(APPEND rows ".least = ${value}, ")
    else()
      string(APPEND rows ".${field} = R\"(${value})\", ")
    endif()
  endforeach()
  string(APPEND rows "},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made from ${INPUT}.
#include <array>

#include \"tools/tandem/sweep/torch_options.h\"
namespace tandem::cli {
std::span<const TorchOption> torch_options() {
  static constexpr auto kOptions = std::to_array<TorchOption>({
${rows}});
  return kOptions;
}
}  // namespace tandem::cli
")
