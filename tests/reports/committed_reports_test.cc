// SPDX-License-Identifier: Apache-2.0
//
// Reports of committed documents, byte for byte as committed. Where a change of them is meant, this
// writes them anew, and git shows what has changed:
//
//   TANDEM_REFRESH_REPORTS=1 build/release/tests/bin/reports_test
//   --gtest_filter='*CommittedReports*'
//
// which fails, since nothing was compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "reports/answer/report.h"
#include "reports/model/explanation.h"
#include "reports/render/csv.h"
#include "reports/render/formats.h"
#include "tests/reports/committed.h"

namespace tandem::reports {
namespace {

std::string samples_csv(const Report& report) {
  std::string text;
  write_samples_csv([&text](std::string_view part) { text += part; }, report.summary);
  return text;
}

std::string cells_csv(const Report& report) { return to_csv(report.summary); }

std::string comparisons_csv(const Report& report) { return to_comparisons_csv(report.summary); }

std::string explained(const Report& report) { return to_markdown(report.explanations.front()); }

// A line's end after each cell, so that git shows which has changed.
std::string data_of_page(const Report& report) {
  std::string text = page_data(report) + "\n";
  for (std::size_t at = text.find("},{"); at != std::string::npos; at = text.find("},{", at + 3)) {
    text.insert(at + 2, "\n");
  }
  return text;
}

struct Committed {
  const char* folder;
  const char* file;
  std::string (*make)(const Report&);
};

void PrintTo(const Committed& committed, std::ostream* out) {
  *out << committed.folder << '/' << committed.file;
}

// The line at which they part, and what either has there.
std::string first_difference(const std::string& committed, const std::string& made) {
  std::size_t at = 0;
  while (at < committed.size() && at < made.size() && committed[at] == made[at]) ++at;
  const auto line_at = [at](const std::string& text) {
    const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    return text.substr(begin, text.find('\n', at) - begin).substr(0, 2000);
  };
  const auto line = 1 + std::count(made.begin(), made.begin() + static_cast<long>(at), '\n');
  return "line " + std::to_string(line) + "\n  committed: " + line_at(committed) +
         "\n  made now:  " + line_at(made);
}

class CommittedReports : public testing::TestWithParam<Committed> {};

TEST_P(CommittedReports, AreWhatTheirDocumentMakes) {
  const std::string path = std::string(GetParam().folder) + "/" + GetParam().file;
  const std::string made = GetParam().make(committed_report(GetParam().folder));
  if (std::getenv("TANDEM_REFRESH_REPORTS") != nullptr) {
    std::ofstream(path, std::ios::binary) << made;
    FAIL() << path << " was written anew and compared with nothing; see git diff, then run again";
  }
  const std::string committed = text_of(GetParam().folder, GetParam().file);
  ASSERT_FALSE(committed.empty()) << path;
  EXPECT_TRUE(committed == made)
      << path << ": " << first_difference(committed, made)
      << "\nthe top of committed_reports_test.cc says how it is written anew";
}

INSTANTIATE_TEST_SUITE_P(
    Samples, CommittedReports,
    testing::Values(Committed{kQuickSample, "report.md", to_markdown},
                    Committed{kQuickSample, "cells.csv", cells_csv},
                    Committed{kQuickSample, "comparisons.csv", comparisons_csv},
                    Committed{kProofSample, "report.md", to_markdown},
                    Committed{kProofSample, "cells.csv", cells_csv},
                    Committed{kPretendedSample, "report.md", to_markdown},
                    Committed{kPretendedSample, "cells.csv", cells_csv},
                    Committed{kPretendedSample, "comparisons.csv", comparisons_csv},
                    Committed{kLadderSample, "explain.md", explained},
                    Committed{kLadderSample, "cells.csv", cells_csv},
                    Committed{kExplainedSample, "report.md", to_markdown},
                    Committed{kExplainedSample, "cells.csv", cells_csv},
                    Committed{kExplainedSample, "comparisons.csv", comparisons_csv},
                    Committed{kExplainedSample, "samples.csv", samples_csv},
                    Committed{kExplainedSample, "page_data.json", data_of_page},
                    Committed{kExplainedSample, "explain.md", explained}),
    [](const testing::TestParamInfo<Committed>& param) {
      const std::string folder = param.param.folder;
      std::string name = folder.substr(folder.rfind('/') + 1) + "_" + param.param.file;
      for (char& c : name) c = c == '-' || c == '.' ? '_' : c;
      return name;
    });

}  // namespace
}  // namespace tandem::reports
