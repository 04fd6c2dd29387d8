// SPDX-License-Identifier: Apache-2.0
#include "common/comm/gloo_store.h"

#include "common/base/error.h"

namespace tandem {

void GlooStore::set(const std::string& key, const std::vector<char>& data) {
  const std::vector<std::string> keys = bootstrap_.all_gather(key);
  const std::vector<std::string> values = bootstrap_.all_gather({data.begin(), data.end()});
  for (std::size_t rank = 0; rank < keys.size(); ++rank) {
    values_[keys[rank]] = {values[rank].begin(), values[rank].end()};
  }
}

std::vector<char> GlooStore::get(const std::string& key) {
  wait({key});
  return values_[key];
}

void GlooStore::wait(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    TANDEM_CHECK(values_.contains(key), "gloo asks for '{}', which no rank has set", key);
  }
}

}  // namespace tandem
