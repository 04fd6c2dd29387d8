// SPDX-License-Identifier: Apache-2.0
#include "ddp/horovod/control_messages.h"

#include <cstring>
#include <type_traits>

#include "common/base/error.h"

namespace tandem::ddp::horovod {
namespace {

constexpr unsigned kUncached = 1;
constexpr unsigned kShutDown = 2;
constexpr std::size_t kBits = 8;  // per character

// A report is a flag byte, then the bits.
std::size_t report_length(std::size_t positions) { return 1 + (positions + kBits - 1) / kBits; }

unsigned byte_at(const std::string& text, std::size_t index) {
  return static_cast<unsigned char>(text[index]);
}

void set_bits(std::string& text, std::size_t index, unsigned bits) {
  text[index] = static_cast<char>(byte_at(text, index) | bits);
}

[[noreturn]] void fail_to_read(const char* what, std::size_t length) {
  fail(ErrorKind::kCommunication,
       "{} of {} bytes from another rank makes no sense: every rank must run the same build", what,
       length);
}

template <class T>
std::string encode_records(const std::vector<T>& records) {
  static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>);
  std::string text(records.size() * sizeof(T), '\0');
  if (!records.empty()) std::memcpy(text.data(), records.data(), text.size());
  return text;
}

template <class T>
std::vector<T> decode_records(const char* what, const std::string& text) {
  if (text.size() % sizeof(T) != 0) fail_to_read(what, text.size());
  std::vector<T> records(text.size() / sizeof(T));
  if (!records.empty()) std::memcpy(records.data(), text.data(), text.size());
  return records;
}

}  // namespace

std::string encode(const CycleReport& report) {
  std::string text(report_length(report.hits.size()), '\0');
  set_bits(text, 0, (report.uncached ? kUncached : 0U) | (report.shut_down ? kShutDown : 0U));
  for (std::size_t i = 0; i < report.hits.size(); ++i) {
    if (report.hits[i]) set_bits(text, 1 + i / kBits, 1U << (i % kBits));
  }
  return text;
}

CycleReport combine(const std::vector<std::string>& reports, std::size_t positions) {
  CycleReport common{.hits = std::vector<bool>(positions, true)};
  for (const std::string& text : reports) {
    if (text.size() != report_length(positions)) fail_to_read("a report", text.size());
    common.uncached = common.uncached || (byte_at(text, 0) & kUncached) != 0;
    common.shut_down = common.shut_down || (byte_at(text, 0) & kShutDown) != 0;
    for (std::size_t i = 0; i < positions; ++i) {
      const bool hit = (byte_at(text, 1 + i / kBits) >> (i % kBits) & 1U) != 0;
      common.hits[i] = common.hits[i] && hit;
    }
  }
  return common;
}

std::string encode(const std::vector<Request>& requests) { return encode_records(requests); }

std::string encode(const std::vector<std::int64_t>& tensors) { return encode_records(tensors); }

std::vector<Request> decode_requests(const std::string& text) {
  return decode_records<Request>("a list of requests", text);
}

std::vector<std::int64_t> decode_tensors(const std::string& text) {
  return decode_records<std::int64_t>("a list of responses", text);
}

}  // namespace tandem::ddp::horovod
