// SPDX-License-Identifier: Apache-2.0
#include "common/comm/text_exchange.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "common/comm/agreement.h"
#include "common/comm/node_memory.h"

namespace tandem {

struct TextExchange::Slot {
  std::size_t size;  // size of the whole text
  std::array<char, 4096 - sizeof(std::size_t)> part;
};

TextExchange::TextExchange(Bootstrap& bootstrap, Rendezvous& meeting)
    : rank_(bootstrap.rank()),
      ranks_(bootstrap.size()),
      mapping_(map_node_memory(bootstrap, Bytes{ranks_ * static_cast<std::int64_t>(sizeof(Slot))})),
      meeting_(meeting) {
  attempt_together(bootstrap, [&] {
    const auto size = static_cast<std::int64_t>(sizeof(Slot));
    mapping_->reserve(Bytes{rank_ * size}, Bytes{size});
  });
}

TextExchange::Slot& TextExchange::slot(int rank) const {
  return std::launder(reinterpret_cast<Slot*>(mapping_->data()))[rank];
}

void TextExchange::put(const std::string& mine, std::size_t done) {
  Slot& to = slot(rank_);
  to.size = mine.size();
  if (done >= mine.size()) return;
  std::memcpy(to.part.data(), mine.data() + done, std::min(to.part.size(), mine.size() - done));
}

std::vector<std::string> TextExchange::all_gather(const std::string& mine) {
  std::vector<std::string> all(static_cast<std::size_t>(ranks_));
  std::size_t longest = 0;
  std::size_t done = 0;
  do {
    put(mine, done);
    meeting_.meet();
    for (int rank = 0; rank < ranks_; ++rank) {
      const Slot& from = slot(rank);
      std::string& text = all[static_cast<std::size_t>(rank)];
      text.append(from.part.data(), std::min(from.part.size(), from.size - text.size()));
      longest = std::max(longest, from.size);
    }
    done += std::tuple_size_v<decltype(Slot::part)>;
    meeting_.meet();  // no rank puts the next part before all have read this one
  } while (done < longest);
  return all;
}

}  // namespace tandem
