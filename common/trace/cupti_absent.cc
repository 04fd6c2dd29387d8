// SPDX-License-Identifier: Apache-2.0
#include "common/trace/cupti_session.h"

namespace tandem::cupti {

class Session::Attachment {};

std::vector<std::string> usual_libraries() { return {}; }

Session::Session(const std::vector<std::string>& /*libraries*/)
    : why_not_("this build has no CUPTI: build it where the CUDA toolkit has cupti.h") {}
Session::~Session() = default;

void Session::begin() {}
void Session::mark(std::uint64_t /*number*/) const {}
std::optional<std::uint32_t> Session::number_of(void* /*stream*/) const { return std::nullopt; }
CollectedRecords Session::end() { return {}; }

}  // namespace tandem::cupti
