// SPDX-License-Identifier: Apache-2.0
#include "common/results/json_depth.h"

namespace tandem::results {

bool nests_too_deep(std::string_view json) {
  constexpr int kMost = 64;
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text) {
      if (c == '\\') ++i;  // whatever it escapes
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMost) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

}  // namespace tandem::results
