// SPDX-License-Identifier: Apache-2.0
//
// A record of the log: what one call asked of a pretended GPU, and when. Records are plain bytes
// until the log is written, so that taking one costs some nanoseconds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tandem::pretend {

enum class RecordKind : uint8_t {
  kLaunch,
  kProduct,
  kConvolution,
  kLibrary,
  kCopy,
  kFill,
  kCollective,
  kGroup,
  kEvent,
  kWait,
  kSync,
  kMemory,
  kCall,
  kMark,
  kWritten,
  kCount,  // how many there are
};

// Element types, in one numbering for all libraries.
enum class ElementType : uint8_t {
  kF16,
  kBf16,
  kF32,
  kF64,
  kI8,
  kU8,
  kI32,
  kU32,
  kI64,
  kU64,
  kF8,
  kComplex,
  kOther
};

enum class Direction : uint8_t {
  kHostToDevice,
  kDeviceToHost,
  kDeviceToDevice,
  kPeer,
  kHostToHost
};

inline constexpr size_t kRecordValues = 8;

struct Record {
  int64_t start = 0;           // nanoseconds of CLOCK_MONOTONIC
  int64_t cpu = 0;             // nanoseconds that the thread had computed when the call began
  const char* call = nullptr;  // the function's name
  const char* text = nullptr;  // a kernel's name and the like: lives as long as the process
  std::array<int64_t, kRecordValues> values{};  // what the kind's fields say, in their order
  uint32_t duration = 0;                        // nanoseconds
  uint32_t cpu_duration = 0;                    // nanoseconds that it computed in the call
  uint32_t stream = 0;                          // 0 is the default stream of the device
  int16_t device = 0;
  RecordKind kind = RecordKind::kCall;
};

// A key of a record's line, and what the key's value is made of.
struct RecordField {
  enum class Form : uint8_t { kNumber, kTriple, kType, kOperands, kDirection, kText, kObject };
  const char* key = nullptr;  // nullptr ends the list
  Form form = Form::kNumber;
};

struct RecordKindFields {
  const char* name;  // the value of "what"
  std::array<RecordField, kRecordValues + 1> fields;
};

// The fields of a kind; numbers take one value of the record, triples three, texts none.
[[nodiscard]] const RecordKindFields& fields_of(RecordKind kind);

[[nodiscard]] const char* name_of(ElementType type);
[[nodiscard]] const char* name_of(Direction direction);
[[nodiscard]] int64_t bytes_of(ElementType type);

}  // namespace tandem::pretend
