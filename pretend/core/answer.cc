// SPDX-License-Identifier: Apache-2.0
#include "pretend/core/answer.h"

#include <cstdio>
#include <mutex>
#include <set>
#include <string>

#include "pretend/core/log.h"

namespace tandem::pretend {

void accept(const char* library, const char* function) {
  log::Entry entry(function, RecordKind::kCall);
  entry.text(library);
}

void refuse(const char* library, const char* function) {
  static std::mutex* const mutex = new std::mutex;
  static std::set<std::string>* const told = new std::set<std::string>;
  const std::lock_guard lock(*mutex);
  if (told->insert(function).second) {
    std::fprintf(stderr,
                 "pretended %s: %s is not known to Tandem and answers \"not supported\"; leave out "
                 "what calls it, or add an answer to pretend/\n",
                 library, function);
  }
}

}  // namespace tandem::pretend
