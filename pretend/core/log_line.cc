// SPDX-License-Identifier: Apache-2.0
//
// A record as a line of JSON.
#include <algorithm>
#include <cstdio>

#include "pretend/core/log.h"

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
    if (field.key == nullptr) {
      break;
    }
    writer.add(",\"%s\":", field.key);
    at += add_value(writer, field, record, at);
  }
  writer.add("}\n");
}

}  // namespace tandem::pretend::log
