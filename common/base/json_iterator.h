// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iterator>

// Private to the readers of JSON that use the library's parser.
namespace tandem {

// The deepest nesting of lists and objects in a text, since readers take a stack frame per level.
inline constexpr std::size_t kDeepestJson = 64;

// The library's error number for a number that no double holds.
inline constexpr int kJsonNumberOutOfRange = 406;

// Iterates over a text for the parser; the text's owner sees how far the parser has read. A Text
// has is_over(), front() and advance(); an iterator without a Text is the end of every text.
template <class Text>
class JsonIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  explicit JsonIterator(Text* text = nullptr) : text_(text) {}
  reference operator*() const { return text_->front(); }
  JsonIterator& operator++() {
    text_->advance();
    return *this;
  }
  bool operator==(const JsonIterator& other) const { return is_end() == other.is_end(); }

 private:
  [[nodiscard]] bool is_end() const { return text_ == nullptr || text_->is_over(); }

  Text* text_;
};

}  // namespace tandem
