// SPDX-License-Identifier: Apache-2.0
#include "reports/render/samples_csv.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string>

#include "reports/render/csv_text.h"

namespace tandem::reports {
namespace {

constexpr std::size_t kPartBytes = std::size_t{1} << 16;

// Appends the fewest digits that read back as the same number, without a stream, since there are
// millions of samples.
template <class Number>
void append(std::string& text, Number value) {
  std::array<char, 32> digits;
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(digits.data(), written.ptr);
}

// The columns before a sample's number.
std::string launch_part(const CellSummary& cell, const results::LaunchRecord& record) {
  std::vector<std::string> fields = cell_columns(cell);
  for (std::string& mark : mark_columns(cell)) fields.push_back(std::move(mark));
  fields.push_back(std::to_string(record.launch_index));
  std::string part = csv_row(fields);
  part.back() = ',';
  return part;
}

}  // namespace

void write_samples_csv(const results::TextSink& sink, const Summary& summary) {
  std::string text = fmt::format("{},{},launch_index,sample,step_s\n", kCellColumns, kMarkColumns);
  for (const CellSummary& cell : summary.cells) {
    for (const results::LaunchRecord* record : cell.measured) {
      const std::string before = launch_part(cell, *record);
      for (std::size_t sample = 0; sample < record->step_seconds.size(); ++sample) {
        text += before;
        append(text, sample);
        text += ',';
        append(text, record->step_seconds[sample]);
        text += '\n';
        if (text.size() < kPartBytes) continue;
        sink(text);
        text.clear();
      }
    }
  }
  sink(text);
}

}  // namespace tandem::reports
