// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include "common/results/json_scan.h"

// Private to results: fields of a scanned JSON text as values of a type.
namespace tandem::results {

// A value of a ScannedJson, which it borrows.
class JsonValue {
 public:
  JsonValue(const std::vector<JsonNode>& nodes, std::size_t place)
      : nodes_(&nodes), place_(place) {}

  [[nodiscard]] JsonKind kind() const { return node().kind; }

  // As a member of an object.
  [[nodiscard]] std::string key() const;

  // As it stands in the text, quotes included.
  [[nodiscard]] std::string_view raw() const;

  // The member of an object; nothing where there is none, or this is none.
  [[nodiscard]] std::optional<JsonValue> find(std::string_view key) const;

  // Hands over each member or element.
  template <class Take>
  void for_each(Take take) const {
    if (kind() != JsonKind::kList && kind() != JsonKind::kObject) return;
    for (std::size_t at = place_ + 1; at < node().next; at = (*nodes_)[at].next) {
      take(JsonValue(*nodes_, at));
    }
  }

  // Whether it is one, exactly: 1.5 is no int, and 300 no 8-bit one. Puts it into `value`.
  [[nodiscard]] bool get(bool& value) const;
  [[nodiscard]] bool get(double& value) const;
  [[nodiscard]] bool get(std::string& value) const;

  template <class T>
  [[nodiscard]] std::enable_if_t<std::is_integral_v<T>, bool> get(T& value) const {
    const std::string_view text = node().text;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return kind() == JsonKind::kNumber && error == std::errc{} && end == text.data() + text.size();
  }

  template <class T>
  [[nodiscard]] bool get(std::vector<T>& values) const {
    if (kind() != JsonKind::kList) return false;
    values.clear();
    if (std::is_arithmetic_v<T>) values.reserve(node().next - place_ - 1);  // one node each
    bool is_exact = true;
    for_each([&](const JsonValue& element) { is_exact &= element.get(values.emplace_back()); });
    return is_exact;
  }

  template <class T>
  [[nodiscard]] bool get(std::map<std::string, T>& values) const {
    if (kind() != JsonKind::kObject) return false;
    values.clear();
    bool is_exact = true;
    for_each([&](const JsonValue& member) { is_exact &= member.get(values[member.key()]); });
    return is_exact;
  }

 private:
  [[nodiscard]] const JsonNode& node() const { return (*nodes_)[place_]; }

  const std::vector<JsonNode>* nodes_;
  std::size_t place_;
};

// A whole text, which it borrows. Scanning one after the other takes no new memory.
class ScannedJson {
 public:
  ScannedJson() = default;
  // Throws a failure that names `source` where the text is not one value.
  ScannedJson(std::string_view text, std::string_view source) { scan(text, source); }

  void scan(std::string_view text, std::string_view source);

  // Of the value that the text begins with; `end` as scan_json() has it.
  [[nodiscard]] JsonScan scan_first(std::string_view text, int depth, std::size_t& end) {
    return scan_json(text, depth, nodes_, end);
  }

  [[nodiscard]] JsonValue root() const { return {nodes_, 0}; }

 private:
  std::vector<JsonNode> nodes_;
};

// Says that the text is no JSON, or nests too deep.
[[noreturn]] void fail_scan(JsonScan scan, std::string_view source);

[[noreturn]] void fail_value(std::string_view field, const JsonValue& value);

// The field's value, or `fallback` where it is absent; an error that names it where its type is
// another one.
template <class T>
[[nodiscard]] T value_or(const JsonValue& object, std::string_view field, T fallback) {
  const std::optional<JsonValue> found = object.find(field);
  if (found && !found->get(fallback)) fail_value(field, *found);
  return fallback;
}

// The same for a field that is left out where there is nothing to tell.
template <class T>
[[nodiscard]] std::optional<T> value_if_any(const JsonValue& object, std::string_view field) {
  const std::optional<JsonValue> found = object.find(field);
  if (!found) return std::nullopt;
  T value{};
  if (!found->get(value)) fail_value(field, *found);
  return value;
}

// Where `field` is required.
[[nodiscard]] JsonValue required(const JsonValue& object, std::string_view field);

template <class T>
[[nodiscard]] T required_value(const JsonValue& object, std::string_view field) {
  T value{};
  const JsonValue found = required(object, field);
  if (!found.get(value)) fail_value(field, found);
  return value;
}

// What `read` makes of a field that is an object; absent, a T{}.
template <class T>
[[nodiscard]] T object_from(const JsonValue& object, std::string_view field,
                            T (*read)(const JsonValue&)) {
  const std::optional<JsonValue> found = object.find(field);
  return found ? read(*found) : T{};
}

template <class T>
[[nodiscard]] std::vector<T> list_from(const JsonValue& object, std::string_view field,
                                       T (*read)(const JsonValue&)) {
  std::vector<T> values;
  const std::optional<JsonValue> found = object.find(field);
  if (!found) return values;
  if (found->kind() != JsonKind::kList) fail_value(field, *found);
  found->for_each([&](const JsonValue& element) { values.push_back(read(element)); });
  return values;
}

}  // namespace tandem::results
