// SPDX-License-Identifier: Apache-2.0
#include "common/results/json_stream.h"

#include <algorithm>

namespace tandem::results {

JsonStream::JsonStream(const TextParts& parts, std::string_view source)
    : parts_(parts), source_(source) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  while (text_.size() < kByteOrderMark.size() && refill()) {
  }
  if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
}

bool JsonStream::is_at(char bracket) { return is_more() && text_[at_] == bracket; }

void JsonStream::members(const std::function<void(const std::string&)>& take_value) {
  expect('{');
  ++depth_;
  if (!take('}')) {
    do {
      std::string key;
      if (!value().get(key)) fail_scan(JsonScan::kInvalid, source_);
      expect(':');
      take_value(key);
    } while (take(','));
    expect('}');
  }
  --depth_;
}

void JsonStream::elements(const std::function<void()>& take_element) {
  expect('[');
  ++depth_;
  if (!take(']')) {
    do {
      take_element();
    } while (take(','));
    expect(']');
  }
  --depth_;
}

JsonValue JsonStream::value() {
  for (;;) {
    std::size_t end = 0;
    const JsonScan scan = scanned_.scan_first(std::string_view(text_).substr(at_), depth_, end);
    const bool may_go_on =
        scan == JsonScan::kCutOff || (scan == JsonScan::kWhole && at_ + end == text_.size());
    if (may_go_on && refill()) continue;
    if (scan != JsonScan::kWhole) fail_scan(scan, source_);
    at_ += end;
    return scanned_.root();
  }
}

void JsonStream::expect_end() {
  if (is_more()) fail_scan(JsonScan::kInvalid, source_);
}

// Behind space.
bool JsonStream::is_more() {
  do {
    at_ = behind_space(text_, at_);
  } while (at_ == text_.size() && refill());
  return at_ < text_.size();
}

bool JsonStream::take(char c) {
  if (!is_at(c)) return false;
  ++at_;
  return true;
}

void JsonStream::expect(char c) {
  if (!take(c)) fail_scan(JsonScan::kInvalid, source_);
}

// Each time as much again: a long value is scanned anew from its beginning.
bool JsonStream::refill() {
  constexpr std::size_t kPart = 1 << 20;
  if (is_last_) return false;
  text_.erase(0, at_);
  at_ = 0;
  is_last_ = !parts_(text_, std::max(kPart, text_.size()));
  return !is_last_;
}

}  // namespace tandem::results
