// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tandem {

// Throws a usage error of one line, which begins with `source`, where the text is no JSON document.
// Broken syntax and numbers out of range are named by line and column (in bytes), a key that stands
// twice in an object by its line, since a reader would see only one of the two. Deeper nesting or
// more keys in one object than a document needs are refused as well: readers take a stack frame per
// level, and search an object's keys for each key.
void check_json(std::string_view text, const std::string& source);

}  // namespace tandem
