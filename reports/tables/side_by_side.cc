// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/side_by_side.h"

#include <utility>

#include "reports/model/change_text.h"

namespace tandem::reports {

std::string letter(std::size_t place) {
  constexpr std::size_t kLetters = 26;
  return place < kLetters ? std::string(1, static_cast<char>('A' + place))
                          : std::to_string(place + 1);
}

SideBySide side_by_side(std::vector<NamedDocument> documents, const ChangeRule& rule) {
  SideBySide side;
  for (NamedDocument& one : documents) {
    side.names.push_back(std::move(one.name));
    side.reports.push_back(make_report(std::move(one.document)));
  }
  const Report& first = side.reports.front();
  for (std::size_t i = 1; i < side.size(); ++i) {
    const Report& next = side.reports[i];
    side.changes.push_back(compare_documents(first.document, first.summary, next.document,
                                             next.summary, rule,
                                             {.before = letter(0), .after = letter(i)}));
  }
  return side;
}

std::vector<std::string> side_lines(const SideBySide& side) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < side.changes.size(); ++i) {
    lines.push_back(letter(i + 1) + " against A: " + change_counts(side.changes[i]));
  }
  return lines;
}

std::vector<std::string> side_notes(const SideBySide& side) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < side.changes.size(); ++i) {
    const std::string name = letter(i + 1);
    const DocumentChange& changes = side.changes[i];
    const std::string against = name + " against A: ";
    lines.push_back(against + change_method(changes, {.before = letter(0), .after = name}));
    for (const std::string& note : changes.notes) lines.push_back(against + note);
  }
  for (std::size_t i = 0; i < side.size(); ++i) {
    for (const std::string& note : side.reports[i].verdict.notes) {
      lines.push_back(letter(i) + " by itself: " + note);
    }
  }
  return lines;
}

}  // namespace tandem::reports
