// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's functions, from the library that is loaded at run time.
#pragma once

#include <cupti.h>

#include <string>
#include <vector>

namespace tandem::cupti {

// The functions that are called: X(place, name).
#define TANDEM_EACH_CUPTI_CALL(X)                       \
  X(register_callbacks, cuptiActivityRegisterCallbacks) \
  X(enable, cuptiActivityEnable)                        \
  X(disable, cuptiActivityDisable)                      \
  X(flush_all, cuptiActivityFlushAll)                   \
  X(next_record, cuptiActivityGetNextRecord)            \
  X(dropped_records, cuptiActivityGetNumDroppedRecords) \
  X(push_id, cuptiActivityPushExternalCorrelationId)    \
  X(pop_id, cuptiActivityPopExternalCorrelationId)      \
  X(timestamp, cuptiGetTimestamp)                       \
  X(stream_id, cuptiGetStreamIdEx)                      \
  X(result_string, cuptiGetResultString)

struct Api {
#define TANDEM_PLACE(place, name) decltype(&name) place = nullptr;
  TANDEM_EACH_CUPTI_CALL(TANDEM_PLACE)
#undef TANDEM_PLACE
};

// Fills `api` from the first of the files that loads, which is never unloaded: threads of CUPTI's
// own may be inside as the process ends. Returns what is wrong, in one line; empty: nothing.
[[nodiscard]] std::string load_api(const std::vector<std::string>& files, Api& api);

// Why CUPTI refused `call`, and what to do.
[[nodiscard]] std::string refusal(const Api& api, const char* call, CUptiResult result);

}  // namespace tandem::cupti
