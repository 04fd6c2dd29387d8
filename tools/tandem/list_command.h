// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tandem::cli {

struct ListOptions {
  std::string topic;       // of kTopics; empty: all whose lists are short
  std::string name;        // of hardware: the machine whose description is printed; or empty
  std::string step_bench;  // path for tests; empty: step_bench beside tandem
};

// `tandem list`. Returns 0, or step_bench's exit status where its list of models fails. Throws a
// usage error for an unknown topic.
[[nodiscard]] int run_list(const ListOptions& options);

}  // namespace tandem::cli
