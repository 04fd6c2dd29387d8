// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/output_folder.h"

#include <string>

#include "common/base/error.h"
#include "common/results/document.h"
#include "common/results/files.h"
#include "reports/csv.h"
#include "reports/html.h"
#include "reports/markdown.h"

namespace tandem::cli {

OutputFolder::OutputFolder(const std::filesystem::path& path)
    : path_(std::filesystem::absolute(path)) {
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (error) {
    fail(ErrorKind::kUsage, "making the output folder {}: {}; choose another --out", path_.string(),
         error.message());
  }
  const std::filesystem::path probe = path_ / ".writable";
  try {
    results::replace_file(probe, "tandem\n");
  } catch (const Error&) {
    fail(ErrorKind::kUsage, "the output folder {} cannot be written to; choose another --out",
         path_.string());
  }
  std::filesystem::remove(probe, error);
}

std::filesystem::path OutputFolder::logs() const {
  std::filesystem::create_directories(path_ / "logs");
  return path_ / "logs";
}

void OutputFolder::mark_unfinished() const {
  results::replace_file(mark(), "launches are missing; the same command goes on\n");
}

void OutputFolder::mark_finished() const { std::filesystem::remove(mark()); }

void OutputFolder::write(const reports::Report& report) const {
  results::write_document(path_ / "results.json", report.document);
  results::replace_file(path_ / "cells.csv", reports::to_csv(report.summary));
  results::replace_file(path_ / "report.md", reports::to_markdown(report));
  results::replace_file(page(), reports::to_html(report));
}

}  // namespace tandem::cli
