// SPDX-License-Identifier: Apache-2.0
#include "reports/text/definitions.h"

namespace tandem::reports {
namespace {

bool has_word(std::string_view words, std::string_view word) {
  for (std::size_t at = words.find(word); at != std::string_view::npos;
       at = words.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || words[at - 1] == ' ';
    if (begins && (end == words.size() || words[end] == ' ')) return true;
  }
  return false;
}

}  // namespace

std::vector<const FigureDefinition*> definitions_of(std::string_view section) {
  std::vector<const FigureDefinition*> found;
  for (const FigureDefinition& definition : kDefinitions) {
    if (has_word(definition.sections, section)) found.push_back(&definition);
  }
  return found;
}

}  // namespace tandem::reports
