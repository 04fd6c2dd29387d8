// SPDX-License-Identifier: Apache-2.0
#include "reports/model/cell_partners.h"

#include <set>
#include <utility>

namespace tandem::reports {
namespace {

std::string name_without(results::Cell cell, const std::vector<std::string>& options) {
  for (const std::string& option : options) cell.options.erase(option);
  return cell.name();
}

}  // namespace

CellIdentity identity_of(const CellSummary& cell, const std::vector<std::string>& without) {
  return {name_without(cell.cell, without), cell.cell.backend, cell.mode, cell.modelled,
          cell.planted};
}

CellNames::CellNames(std::vector<std::string> without)
    : without_(std::move(without)), bare_(without_) {
  bare_.insert(bare_.end(), {"plant", "fault"});
}

std::string CellNames::own(const results::Cell& cell) const { return name_without(cell, without_); }

std::string CellNames::bare(const results::Cell& cell) const { return name_without(cell, bare_); }

CellIdentity CellNames::identity(const CellSummary& cell) const {
  return identity_of(cell, without_);
}

CellIdentity CellNames::bare_identity(const CellSummary& cell) const {
  return {bare(cell.cell), cell.cell.backend, cell.mode, cell.modelled, ""};
}

Partners::Partners(const Summary& summary, const Summary& others, const CellNames& names)
    : names_(names) {
  std::set<CellIdentity> taken;
  for (const CellSummary& other : others.cells) {
    if (other.launches > 0) taken.insert(names.identity(other));
  }
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches == 0) continue;
    same_.emplace(names.identity(cell), &cell);
    if (!taken.contains(names.identity(cell))) free_.emplace(names.bare_identity(cell), &cell);
  }
}

const CellSummary* Partners::of(const CellSummary& cell) const {
  const auto same = same_.find(names_.identity(cell));
  if (same != same_.end()) return same->second;
  const auto free = free_.find(names_.bare_identity(cell));
  if (free == free_.end()) return nullptr;
  return free->second->planted.empty() == cell.planted.empty() ? nullptr : free->second;
}

CellsByName::CellsByName(const Summary& summary, const CellNames& names) : names_(names) {
  for (const CellSummary& cell : summary.cells) {
    own_.emplace(names.own(cell.cell), &cell);
    bare_.insert_or_assign(names.bare(cell.cell), &cell);
  }
}

const CellSummary* CellsByName::find(const CellSummary& wanted) const {
  const auto own = own_.find(names_.own(wanted.cell));
  if (own != own_.end()) return own->second;
  const auto near = bare_.find(names_.bare(wanted.cell));
  return near == bare_.end() ? nullptr : near->second;
}

}  // namespace tandem::reports
