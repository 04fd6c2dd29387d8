// SPDX-License-Identifier: Apache-2.0
#include "pretend/core/record.h"

namespace tandem::pretend {
namespace {

using Form = RecordField::Form;

// In the order of RecordKind. docs/pretend.md has the same keys, and a test compares the two.
constexpr auto kKinds = std::to_array<RecordKindFields>({
    {"launch",
     {{{"kernel", Form::kText},
       {"grid", Form::kTriple},
       {"block", Form::kTriple},
       {"shared_bytes", Form::kNumber},
       {"elements", Form::kNumber}}}},
    {"product",
     {{{"m"}, {"n"}, {"k"}, {"batch"}, {"type", Form::kType}, {"operands", Form::kOperands}}}},
    {"convolution", {{{"operations", Form::kObject}}}},
    {"library", {{{"operations", Form::kObject}}}},
    {"copy", {{{"bytes"}, {"direction", Form::kDirection}, {"from"}, {"to"}, {"copied"}}}},
    {"fill", {{{"bytes"}, {"value"}, {"filled"}}}},
    {"collective",
     {{{"collective", Form::kText},
       {"count"},
       {"bytes"},
       {"type", Form::kType},
       {"rank"},
       {"ranks"},
       {"root"},
       {"communicator"},
       {"group"}}}},
    {"group", {{{"group"}, {"collectives"}}}},
    {"event", {{{"event"}}}},
    {"wait", {{{"event"}}}},
    {"sync", {{{"event"}}}},
    {"memory", {{{"bytes"}}}},
    {"call", {{{"library", Form::kText}}}},
    {"mark", {{{"text", Form::kText}}}},
    {"lock", {{{"held"}}}},
    {"post", {{{"object"}}}},
    {"woken", {{{"object"}}}},
    {"written", {{{"records"}}}},
});
static_assert(kKinds.size() == static_cast<size_t>(RecordKind::kCount));

}  // namespace

const RecordKindFields& fields_of(RecordKind kind) { return kKinds[static_cast<size_t>(kind)]; }

const char* name_of(ElementType type) {
  constexpr auto kNames =
      std::to_array<const char*>({"f16", "bf16", "f32", "f64", "i8", "u8", "i32", "u32", "i64",
                                  "u64", "f8", "complex", "other"});
  return kNames[static_cast<size_t>(type)];
}

const char* name_of(Direction direction) {
  constexpr auto kNames =
      std::to_array<const char*>({"host-to-device", "device-to-host", "device", "peer", "host"});
  return kNames[static_cast<size_t>(direction)];
}

int64_t bytes_of(ElementType type) {
  constexpr auto kBytes = std::to_array<int64_t>({2, 2, 4, 8, 1, 1, 4, 4, 8, 8, 1, 8, 1});
  return kBytes[static_cast<size_t>(type)];
}

}  // namespace tandem::pretend
