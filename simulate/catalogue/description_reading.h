// SPDX-License-Identifier: Apache-2.0
//
// Readers of a description's parts, which files have in one place and the catalogue in several.
#pragma once

#include <optional>
#include <string_view>

#include "common/json/value.h"
#include "simulate/catalogue/description.h"

namespace tandem {

// An object whose missing keys another one may have.
class JsonPart {
 public:
  explicit JsonPart(const JsonValue& own) : own_(own) {}
  JsonPart(const JsonValue& own, const JsonValue& common) : own_(own), common_(common) {}

  [[nodiscard]] const JsonValue& own() const { return own_; }
  [[nodiscard]] std::optional<JsonValue> find(std::string_view key) const {
    auto found = own_.find(key);
    if (!found && common_) found = common_->find(key);
    return found;
  }
  [[nodiscard]] JsonValue at(std::string_view key) const {
    const auto found = find(key);
    return found ? *found : own_.at(key);
  }

 private:
  JsonValue own_;
  std::optional<JsonValue> common_{};
};

// Each throws as parse_hardware().
void read_gpu(const JsonPart& json, GpuDescription& gpu);
void read_gpu_count(const JsonValue& json, SourcedFigure<int>& gpus);
void read_link(const JsonValue& json, LinkDescription& link);
void read_staged_link(const JsonValue& json, StagedLinkDescription& staged);
void read_network_link(const JsonValue& json, NetworkDescription& network);
void read_nccl(const JsonValue& json, NcclTopology& nccl);
void read_host(const JsonValue& json, HostDescription& host);

// Complains of links that are faster than the GPU's memory, and of a staged link that is faster
// than the one to the host: a slip of a unit that is within its bounds may show there. `json` is
// the node.
void check_links(const JsonValue& json, const HardwareDescription& hardware);

}  // namespace tandem
