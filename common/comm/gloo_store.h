// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/rendezvous/store.h>

#include <map>
#include <string>
#include <vector>

#include "common/comm/bootstrap.h"

namespace tandem {

// The store in which gloo's ranks leave their addresses for one another, over a Bootstrap: set() is
// collective. A collective set() fits how gloo connects: every rank sets as many keys, and asks
// only for keys that the others set before or at the same time.
class GlooStore final : public gloo::rendezvous::Store {
 public:
  explicit GlooStore(Bootstrap& bootstrap) : bootstrap_(bootstrap) {}

  void set(const std::string& key, const std::vector<char>& data) override;
  std::vector<char> get(const std::string& key) override;
  void wait(const std::vector<std::string>& keys) override;

 private:
  Bootstrap& bootstrap_;
  std::map<std::string, std::vector<char>> values_;
};

}  // namespace tandem
