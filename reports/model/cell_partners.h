// SPDX-License-Identifier: Apache-2.0
//
// The cells of two documents that are the same, and the launches of two documents that one run
// measured in turns, a round after the other, so that they are pairs.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "common/results/document.h"
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

// Whether the documents are the two sides of one run, in either order.
[[nodiscard]] bool are_of_one_run(const results::Document& a, const results::Document& b);

// The names of the options that only the reference's cells have; none unless the documents are of
// one run. Without these options a cell has the name of its partner.
[[nodiscard]] std::vector<std::string> options_of_reference(const results::Document& a,
                                                            const results::Document& b);

// A figure of the launches of two cells of one run, a value each for the rounds that both have.
struct RoundValues {
  std::vector<double> before;
  std::vector<double> after;
};

[[nodiscard]] RoundValues medians_in_rounds(const CellSummary& before, const CellSummary& after);

// The energy of a step, of the rounds in which the GPUs of both cells tell it.
[[nodiscard]] RoundValues joules_in_rounds(const CellSummary& before, const CellSummary& after);

// What a reference was: "the build /before, with NCCL_ALGO=Ring, --grads=views".
[[nodiscard]] std::string reference_text(const results::Against& against);

// What a side of a run was, where the document is one: "the reference (the build /before, with
// NCCL_ALGO=Ring, --grads=views), commit 0123456789ab", or "the run itself, commit ...".
[[nodiscard]] std::string side_text(const results::Document& document);

}  // namespace tandem::reports
