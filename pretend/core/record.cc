// SPDX-License-Identifier: Apache-2.0
#include "pretend/core/record.h"

#include <algorithm>
#include <cstdio>

#include "pretend/core/log.h"

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

// A record as a line of JSON.
namespace tandem::pretend::log {
namespace {

using Form = RecordField::Form;

// Appends to the line and cuts what does not fit; a kernel's name alone can be that long.
class Writer {
 public:
  explicit Writer(Line& line) : line_(line) { line_.length = 0; }

  template <typename... Values>
  void add(const char* form, Values... values) {
    const size_t room = line_.text.size() - line_.length;
    const int length = std::snprintf(line_.text.data() + line_.length, room, form, values...);
    line_.length += std::min(static_cast<size_t>(std::max(length, 0)), room - 1);
  }

  // A string of JSON; what JSON would have to escape becomes '?'.
  void add_text(const char* text) {
    add("\"");
    for (const char* at = text; *at != '\0' && line_.length < line_.text.size() - kTail; ++at) {
      const bool plain = *at >= ' ' && *at != '"' && *at != '\\';
      line_.text[line_.length++] = plain ? *at : '?';
    }
    add("\"");
  }

 private:
  static constexpr size_t kTail = 256;  // for the fields behind a long text
  Line& line_;
};

const char* operands(int64_t value) {
  constexpr auto kNames = std::to_array<const char*>({"NN", "NT", "TN", "TT"});
  return kNames[static_cast<size_t>(value & 3)];
}

// Returns how many values of the record the field took.
size_t add_value(Writer& writer, const RecordField& field, const Record& record, size_t at) {
  const auto number = [&](size_t offset) {
    return static_cast<long long>(record.values[std::min(at + offset, kRecordValues - 1)]);
  };
  switch (field.form) {
    case Form::kNumber:
      writer.add("%lld", number(0));
      return 1;
    case Form::kTriple:
      writer.add("[%lld,%lld,%lld]", number(0), number(1), number(2));
      return 3;
    case Form::kType:
      writer.add("\"%s\"", name_of(static_cast<ElementType>(number(0))));
      return 1;
    case Form::kOperands:
      writer.add("\"%s\"", operands(number(0)));
      return 1;
    case Form::kDirection:
      writer.add("\"%s\"", name_of(static_cast<Direction>(number(0))));
      return 1;
    case Form::kText:
      writer.add_text(record.text == nullptr ? "" : record.text);
      return 0;
    case Form::kObject:
      writer.add("%s", record.text == nullptr ? "[]" : record.text);
      return 0;
  }
  return 0;
}

}  // namespace

void format(const Record& record, int thread, Line& line) {
  Writer writer(line);
  const RecordKindFields& kind = fields_of(record.kind);
  writer.add("{\"t\":%lld,\"ns\":%u,\"cpu\":%lld,\"cpu_ns\":%u,\"thread\":%d,\"what\":\"%s\"",
             static_cast<long long>(record.start), record.duration,
             static_cast<long long>(record.cpu), record.cpu_duration, thread, kind.name);
  writer.add(",\"call\":\"%s\"", record.call);
  writer.add(",\"device\":%d,\"stream\":%u", record.device, record.stream);
  size_t at = 0;
  for (const RecordField& field : kind.fields) {
    if (field.key == nullptr) break;
    writer.add(",\"%s\":", field.key);
    at += add_value(writer, field, record, at);
  }
  writer.add("}\n");
}

}  // namespace tandem::pretend::log
