# Writes OUT, which defines common/results/machine_facts.h: the compiler, and the commit of the source tree SOURCE. At
# build time, since a build folder outlives commits. The file stays as it is where nothing is new.
set(commit "no commit known")
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE} describe --always --dirty=-changed --abbrev=12 --exclude=*
    OUTPUT_VARIABLE described RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed)
    set(commit "commit ${described}")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [[
// SPDX-License-Identifier: Apache-2.0
#include "common/results/machine_facts.h"

namespace tandem::results {

std::string built_by() { return "@COMPILER@"; }
std::string built_from() { return "@commit@"; }

}  // namespace tandem::results
]])
