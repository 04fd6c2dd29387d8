// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/comm/bootstrap.h"
#include "common/comm/rendezvous.h"
#include "common/runtime/host/host_memory.h"

namespace tandem {

// Texts of any length among the ranks of a node, through a slot of a page per rank.
class TextExchange {
 public:
  // Collective. `meeting` belongs to the thread that calls all_gather() and outlives this exchange.
  TextExchange(Bootstrap& bootstrap, Rendezvous& meeting);

  // Every rank's text, by rank.
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine);

 private:
  struct Slot;
  [[nodiscard]] Slot& slot(int rank) const;
  void put(const std::string& mine, std::size_t done);

  const int rank_;
  const int ranks_;
  const std::shared_ptr<host::SharedMapping> mapping_;
  Rendezvous& meeting_;
};

}  // namespace tandem
