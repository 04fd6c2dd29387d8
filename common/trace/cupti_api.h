// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's functions, from the library that is loaded at run time.
#pragma once

#include <cupti.h>

#include <string>
#include <vector>

namespace tandem::cupti {

struct Api {
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
  decltype(&cuptiActivityPushExternalCorrelationId) push_id = nullptr;
  decltype(&cuptiActivityPopExternalCorrelationId) pop_id = nullptr;
  decltype(&cuptiGetTimestamp) timestamp = nullptr;
  decltype(&cuptiGetStreamIdEx) stream_id = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;
};

// Fills `api` from the first of the files that loads, which is never unloaded: threads of CUPTI's
// own may be inside as the process ends. Returns what is wrong, in one line; empty: nothing.
[[nodiscard]] std::string load_api(const std::vector<std::string>& files, Api& api);

// Why CUPTI refused `call`, and what to do.
[[nodiscard]] std::string refusal(const Api& api, const char* call, CUptiResult result);

}  // namespace tandem::cupti
