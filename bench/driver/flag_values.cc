// SPDX-License-Identifier: Apache-2.0
#include "bench/driver/flag_values.h"

#include "common/base/text.h"

namespace tandem::bench {

namespace {

constexpr std::int64_t kMostFactor = 1 << 20;

struct SizeRange {
  Bytes first;
  Bytes last;
  std::int64_t factor = 2;
};

std::int64_t factor_of(std::string_view text, const std::string& flag) {
  const auto factor = parse_number<std::int64_t>(text);
  if (factor && *factor >= 2 && *factor <= kMostFactor) return *factor;
  fail(ErrorKind::kUsage,
       "{}: '{}' is no factor: use a whole number of 2 or more, as in {}=1KiB:1GiB:4", flag, text,
       flag);
}

SizeRange range_of(std::string_view text, const std::string& flag) {
  const std::size_t colon = text.find(':');
  if (colon == text.npos) {
    const Bytes size = parse_bytes(text, flag);
    return {.first = size, .last = size};
  }
  const std::size_t second = text.find(':', colon + 1);
  SizeRange range{.first = parse_bytes(text.substr(0, colon), flag),
                  .last = parse_bytes(text.substr(colon + 1, second - colon - 1), flag)};
  if (second != text.npos) range.factor = factor_of(text.substr(second + 1), flag);
  if (range.first > range.last) {
    fail(ErrorKind::kUsage, "{}: '{}' ends before it begins: give the smaller size first", flag,
         text);
  }
  return range;
}

}  // namespace

void check_samples(int samples) {
  if (samples < 2) fail(ErrorKind::kUsage, "--samples={}: use 2 or more", samples);
}

std::vector<Bytes> parse_sizes(const std::string& text, const std::string& flag) {
  std::vector<Bytes> sizes;
  for (const std::string_view part : split(text, ',')) {
    const SizeRange range = range_of(part, flag);
    if (range.first < Bytes{1}) {
      fail(ErrorKind::kUsage, "{}: '{}' holds nothing: use 1B or more", flag, part);
    }
    for (Bytes size = range.first;; size = size * range.factor) {
      if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) sizes.push_back(size);
      if (size.value > range.last.value / range.factor) break;
    }
  }
  return sizes;
}

}  // namespace tandem::bench
