// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/model/ladder.h"
#include "tools/tandem/launch/launch_site.h"

namespace tandem::cli {

struct ExplainOptions : MeasuringOptions {
  std::string source;  // FOLDER with the earlier measurements; empty: --out
  std::string out;
  // A user's module, FILE.py:FUNCTION or MODULE:FUNCTION, in place of the question's model; empty:
  // none.
  std::string module{};
  reports::GapQuestion question;  // dispatch_cost "auto": torch's, measured here
  int launches = 6;
  std::string backend;   // empty: the back end of FOLDER, else auto
  std::string min_time;  // empty: the time of FOLDER, else 500ms
};

// `tandem explain`: measures the missing rungs, then prints the parts of the gap between dp and
// ddp. Returns the exit code of `tandem run` for the rungs.
[[nodiscard]] int explain_gap(const ExplainOptions& options);

}  // namespace tandem::cli
