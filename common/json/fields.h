// SPDX-License-Identifier: Apache-2.0
//
// Records as JSON objects. A record's one list of fields says how it is written, read and checked:
//
//   constexpr auto json_fields(const Point*) {
//     return std::tuple(field("x", &Point::x, {.required = true}), field("y", &Point::y));
//   }
//
// A field is a truth value, a number, a duration (the count of its own unit), a text, an
// enumeration with json_names(), a record, or a std::vector, a std::map by texts or a std::optional
// of such. An object may lack a field, which then keeps its default, and may have further ones
// (additive changes are minor ones); an optional without a value is not written. Where a function
// finish_reading(Record&, const JsonValue&) stands beside the list, it is called after reading, for
// rules between fields.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "common/base/error.h"
#include "common/json/value.h"
#include "common/json/writer.h"

namespace tandem {

struct FieldRule {
  bool required = false;
  JsonRange range{};  // of each number in the field
};

template <class Record, class T>
struct JsonField {
  std::string_view key;
  T Record::*member;
  FieldRule rule;
};

template <class Record, class T>
constexpr JsonField<Record, T> field(std::string_view key, T Record::*member, FieldRule rule = {}) {
  return {key, member, rule};
}

// All texts of the object under keys that are no other field's.
template <class Record>
struct OtherTexts {
  std::map<std::string, std::string> Record::*member;
};

template <class Record>
constexpr OtherTexts<Record> other_texts(std::map<std::string, std::string> Record::*member) {
  return {member};
}

template <class T>
concept JsonRecord = requires(const T* record) {
  json_fields(record);
};

namespace json_detail {

template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class T>
inline constexpr bool kIsMap<std::map<std::string, T>> = true;
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <class T>
concept Duration = requires(T time) {
  typename T::period;
  time.count();
};

// The bounds of a whole number of type T within a rule's range.
template <std::integral T>
std::int64_t bound(double of_rule, bool is_least) {
  using Limits = std::numeric_limits<T>;
  constexpr auto kMost = static_cast<std::int64_t>(
      std::min<std::uint64_t>(Limits::max(), std::numeric_limits<std::int64_t>::max()));
  if (!std::isinf(of_rule)) return static_cast<std::int64_t>(of_rule);
  return is_least ? static_cast<std::int64_t>(Limits::min()) : kMost;
}

}  // namespace json_detail

// Reads a value of the field's type; complains about any other value.
template <class T>
void read_json(const JsonValue& json, T& to, JsonRange range = {});

template <JsonRecord Record>
void read_record(const JsonValue& json, Record& record) {
  json.expect_object();
  std::size_t hint = 0;
  const auto is_field = [](std::string_view key) {
    return std::apply(
        [key](const auto&... fields) {
          const auto has_key = [key](const auto& one) {
            if constexpr (requires { one.key; }) return one.key == key;
            return false;
          };
          return (has_key(fields) || ...);
        },
        json_fields(static_cast<const Record*>(nullptr)));
  };
  const auto read = [&](const auto& one) {
    if constexpr (requires { one.key; }) {
      const auto found = json.find(one.key, hint);
      if (found) read_json(*found, record.*one.member, one.rule.range);
      if (!found && one.rule.required) (void)json.at(one.key);
    } else {
      for (const JsonValue member : json) {
        if (!member.is_text() || is_field(member.key())) continue;
        (record.*one.member)[std::string(member.key())] = member.text();
      }
    }
  };
  std::apply([&](const auto&... fields) { (read(fields), ...); },
             json_fields(static_cast<const Record*>(nullptr)));
  if constexpr (requires { finish_reading(record, json); }) finish_reading(record, json);
}

template <class T>
void read_json(const JsonValue& json, T& to, JsonRange range) {
  if constexpr (std::is_same_v<T, bool>) {
    to = json.boolean();
  } else if constexpr (std::is_integral_v<T>) {
    to = static_cast<T>(json.whole(json_detail::bound<T>(range.least, true),
                                   json_detail::bound<T>(range.most, false)));
  } else if constexpr (std::is_floating_point_v<T>) {
    to = json.number(range);
  } else if constexpr (std::is_enum_v<T>) {
    to = static_cast<T>(json.one_of(json_names(T{})));
  } else if constexpr (json_detail::Duration<T>) {
    typename T::rep count{};
    read_json(json, count, range);
    to = T{count};
  } else if constexpr (std::is_same_v<T, std::string>) {
    to = json.text();
  } else if constexpr (json_detail::kIsOptional<T>) {
    read_json(json, to.emplace(), range);
  } else if constexpr (json_detail::kIsList<T>) {
    if (!json.is_list()) json.complain(shown(json) + " stands where a list has to be");
    to.clear();
    to.reserve(json.size());
    for (const JsonValue element : json) read_json(element, to.emplace_back(), range);
  } else if constexpr (json_detail::kIsMap<T>) {
    json.expect_object();
    to.clear();
    for (const JsonValue member : json) read_json(member, to[std::string(member.key())], range);
  } else {
    read_record(json, to);
  }
}

template <class T>
[[nodiscard]] T read_as(const JsonValue& json) {
  T value{};
  read_json(json, value);
  return value;
}

// The member `key` of an object; `fallback` where the object lacks the key.
template <class T>
[[nodiscard]] T value_or(const JsonValue& object, std::string_view key, T fallback) {
  if (const auto found = object.find(key)) read_json(*found, fallback);
  return fallback;
}

// Writes a value of a field's type. Throws a logic error that names `key` where a number is NaN or
// infinite, since such a figure must not pass for a missing one.
template <class T>
void write_json(JsonWriter& writer, std::string_view key, const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) {
      fail(ErrorKind::kLogic, "writing JSON: {} is {}; a result must be finite", key, value);
    }
    writer.value(key, value);
  } else if constexpr (json_detail::Duration<T>) {
    write_json(writer, key, value.count());
  } else if constexpr (std::is_enum_v<T>) {
    writer.value(key, json_names(value)[static_cast<std::size_t>(value)]);
  } else if constexpr (json_detail::kIsOptional<T>) {
    if (value) write_json(writer, key, *value);
  } else if constexpr (json_detail::kIsList<T>) {
    writer.open(key, '[');
    for (const auto& element : value) write_json(writer, key, element);
    writer.close();
  } else if constexpr (json_detail::kIsMap<T>) {
    writer.open(key, '{');
    for (const auto& [name, element] : value) write_json(writer, name, element);
    writer.close();
  } else if constexpr (JsonRecord<T>) {
    writer.open(key, '{');
    write_fields(writer, value);
    writer.close();
  } else {
    writer.value(key, value);
  }
}

// Writes a record's fields into an open object.
template <JsonRecord Record>
void write_fields(JsonWriter& writer, const Record& record) {
  const auto write = [&](const auto& one) {
    if constexpr (requires { one.key; }) {
      write_json(writer, one.key, record.*one.member);
    } else {
      for (const auto& [name, text] : record.*one.member) writer.value(name, text);
    }
  };
  std::apply([&](const auto&... fields) { (write(fields), ...); }, json_fields(&record));
}

// A value of a field's type in one line.
template <class T>
[[nodiscard]] std::string json_line(const T& value) {
  std::string text;
  JsonWriter writer(text);
  write_json(writer, "", value);
  return text;
}

// The same, indented by `indent` spaces per level, with a newline at the end.
template <class T>
[[nodiscard]] std::string json_page(const T& value, std::size_t indent) {
  std::string text;
  JsonWriter writer(text, indent);
  write_json(writer, "", value);
  writer.finish();
  return text;
}

}  // namespace tandem
