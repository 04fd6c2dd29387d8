// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/report/screen.h"

#include <unistd.h>

#include "common/base/lines.h"

namespace tandem::cli {

reports::Screen screen(bool has_details) {
  return {.columns = columns_of(STDOUT_FILENO), .has_details = has_details};
}

}  // namespace tandem::cli
