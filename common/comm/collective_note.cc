// SPDX-License-Identifier: Apache-2.0
#include "common/comm/collective_note.h"

namespace tandem {

Note note_of(const CollectiveRequest& collective) {
  Note note;
  note.add(static_cast<std::int64_t>(collective.kind));
  note.add(static_cast<std::int64_t>(collective.op));
  note.add(collective.root);
  for (const Block& block : collective.blocks) {
    note.add(block.offset);
    note.add(block.count);
  }
  if (!collective.blocks.empty()) return note;
  note.add(static_cast<std::int64_t>(collective.from.dtype()));
  note.add(collective.from.size());
  return note;
}

}  // namespace tandem
