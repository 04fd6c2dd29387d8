// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "reports/model/document_change.h"

namespace tandem::reports {

// Both documents with their summaries, which the changes point into.
struct Compared {
  Compared(results::Document a, results::Document b, const ChangeRule& rule = {})
      : before(std::move(a)),
        after(std::move(b)),
        before_summary(summarize(before)),
        after_summary(summarize(after)),
        changes(compare_documents(before, before_summary, after, after_summary, rule)) {}

  results::Document before;
  results::Document after;
  Summary before_summary;
  Summary after_summary;
  DocumentChange changes;
};

}  // namespace tandem::reports
