// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/nvml/nvml_api.h"

#include "common/base/library.h"

namespace tandem::nvml {

std::unique_ptr<const Api> load_api() {
  Library library("libnvidia-ml.so.1");
  auto api = std::make_unique<Api>();
#define TANDEM_FIND(place, name, parameters) library.find_optional(api->place, #name);
  TANDEM_EACH_NVML_CALL(TANDEM_FIND)
#undef TANDEM_FIND
  const bool enough =
      api->init != nullptr && api->shutdown != nullptr && api->by_pci_address != nullptr;
  return enough ? std::move(api) : nullptr;
}

}  // namespace tandem::nvml
