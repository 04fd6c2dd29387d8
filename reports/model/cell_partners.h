// SPDX-License-Identifier: Apache-2.0
//
// The cells of two documents that are the same.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "reports/model/summary.h"

namespace tandem::reports {

// The fields that two cells share to be the same cell: name, back end, mode, modelled parts and
// planted delay. The name's options include precision and links, except in documents whose launches
// alone tell them; it lacks those that are named `without`.
using CellIdentity = std::tuple<std::string, std::string, std::string, std::string, std::string>;
[[nodiscard]] CellIdentity identity_of(const CellSummary& cell,
                                       const std::vector<std::string>& without = {});

// The names by which cells of two documents are the same.
class CellNames {
 public:
  // `without` are options that are no difference: those of the reference of one run.
  explicit CellNames(std::vector<std::string> without);

  [[nodiscard]] std::string own(const results::Cell& cell) const;
  // The name without what was planted into the cell on purpose.
  [[nodiscard]] std::string bare(const results::Cell& cell) const;
  [[nodiscard]] CellIdentity identity(const CellSummary& cell) const;
  [[nodiscard]] CellIdentity bare_identity(const CellSummary& cell) const;

 private:
  std::vector<std::string> without_;
  std::vector<std::string> bare_;
};

// The measured cells of a document. A cell's partner is the same cell, or, where only one of the
// two has a planted delay, the same cell but for that delay: so a gate can be tried. The summary
// and the names must outlive the partners.
class Partners {
 public:
  Partners(const Summary& summary, const Summary& others, const CellNames& names);

  // Null where the cell has no partner.
  [[nodiscard]] const CellSummary* of(const CellSummary& cell) const;

 private:
  const CellNames& names_;
  std::map<CellIdentity, const CellSummary*> same_;
  std::map<CellIdentity, const CellSummary*> free_;  // cells that are the same as no other
};

// The cells of a document by name, measured or not; a cell that is not there by its own is found by
// its name without what was planted. The summary and the names must outlive this.
class CellsByName {
 public:
  CellsByName(const Summary& summary, const CellNames& names);

  // Null where the document does not have the cell.
  [[nodiscard]] const CellSummary* find(const CellSummary& wanted) const;

 private:
  const CellNames& names_;
  std::map<std::string, const CellSummary*> own_;
  std::map<std::string, const CellSummary*> bare_;
};

}  // namespace tandem::reports
