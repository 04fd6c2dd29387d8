// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tandem {

// Refuses a text that is no JSON document as people write them, by a usage error of one line that
// begins with `source`. Syntax that breaks and numbers out of range are named by line and column
// (in bytes), a key that an object has twice by its line: a reader would see one of the two. More
// nesting, or keys in one object, than any such document needs are refused as well: readers take a
// stack frame for the one, and look through the others for each.
void check_json(std::string_view text, const std::string& source);

}  // namespace tandem
