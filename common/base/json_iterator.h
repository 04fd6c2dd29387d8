// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iterator>

// Private to those who read JSON with the library's parser.
namespace tandem {

// Lists and objects within each other that a text may have: readers take a stack frame for each.
inline constexpr std::size_t kDeepestJson = 64;

// The library's number for a number that no double holds.
inline constexpr int kJsonNumberOutOfRange = 406;

// Goes through a text for the parser, and leaves with its owner how far that has read. A Text has
// is_over(), front() and advance(); without one, this is the end of any.
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
