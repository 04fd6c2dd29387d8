// SPDX-License-Identifier: Apache-2.0
#include "common/comm/nccl/nccl_group.h"

#include "common/base/error.h"
#include "common/comm/nccl/nccl_communicator.h"

namespace tandem::nccl {

void call_together(const Api& api, const std::vector<Communicator*>& ranks,
                   const std::function<void()>& calls) {
  std::vector<NcclCommunicator*> members;
  for (Communicator* const rank : ranks) members.push_back(&dynamic_cast<NcclCommunicator&>(*rank));
  Group group(api);
  for (NcclCommunicator* const member : members) member->enter_group();
  const auto error = capture_error(calls);
  const ncclResult_t result = group.end();
  for (NcclCommunicator* const member : members) member->let_others_in();
  for (NcclCommunicator* const member : members) member->leave_group(result);
  if (error) throw Error(*error);
}

}  // namespace tandem::nccl
