// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tandem::reports {

// Fields of each record as RFC 4180 has them, but for lines that end with LF.
inline std::vector<std::vector<std::string>> csv_records(const std::string& text) {
  std::vector<std::vector<std::string>> records(1, {""});
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& field = records.back().back();
    if (text[i] == '"') {
      if (is_quoted && i + 1 < text.size() && text[i + 1] == '"') {
        field += text[i++];
      } else {
        is_quoted = !is_quoted;
      }
    } else if (!is_quoted && text[i] == ',') {
      records.back().emplace_back();
    } else if (!is_quoted && text[i] == '\n') {
      records.push_back({""});
    } else {
      field += text[i];
    }
  }
  records.pop_back();  // behind the last line's end
  return records;
}

using CsvRow = std::map<std::string, std::string>;  // by column

// Below the first record, which names the columns; a record of another length has no fields.
inline std::vector<CsvRow> csv_rows(const std::string& text) {
  const std::vector<std::vector<std::string>> records = csv_records(text);
  std::vector<CsvRow> rows;
  for (std::size_t i = 1; i < records.size(); ++i) {
    rows.emplace_back();
    if (records[i].size() != records[0].size()) continue;
    for (std::size_t at = 0; at < records[i].size(); ++at) {
      rows.back()[records[0][at]] = records[i][at];
    }
  }
  return rows;
}

}  // namespace tandem::reports
