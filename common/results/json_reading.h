// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/results/json_nodes.h"
#include "common/results/json_values.h"

// Private to results: fields of a JSON value as values of C++ types.
namespace tandem::results {

// A JSON value, which borrows its JsonNodes.
class JsonValue {
 public:
  JsonValue(const JsonNodes& nodes, std::size_t place) : nodes_(&nodes), place_(place) {}

  [[nodiscard]] JsonKind kind() const { return node().kind; }

  // The value's key as a member of an object.
  [[nodiscard]] std::string key() const { return std::string(view(node().key)); }

  // The value and its content as the library's tree.
  [[nodiscard]] Json tree() const;

  // The member of an object; nothing where the key is missing, or this value is no object.
  [[nodiscard]] std::optional<JsonValue> find(std::string_view key) const;

  // Calls `take` with each member or element.
  template <class Take>
  void for_each(Take take) const {
    if (kind() != JsonKind::kList && kind() != JsonKind::kObject) return;
    for (std::size_t at = place_ + 1; at < node().next; at = nodes_->list[at].next) {
      take(JsonValue(*nodes_, at));
    }
  }

  // Stores the value where the value is exactly of the type, else returns false: 1.5 is no int, and
  // 300 no 8-bit integer.
  [[nodiscard]] bool get(bool& value) const;
  [[nodiscard]] bool get(double& value) const;
  [[nodiscard]] bool get(std::string& value) const;

  template <std::integral T>
  [[nodiscard]] bool get(T& value) const {
    if (kind() == JsonKind::kInteger) return narrow(node().integer, value);
    return kind() == JsonKind::kNatural && narrow(node().natural, value);
  }

  template <class T>
  [[nodiscard]] bool get(std::vector<T>& values) const {
    if (kind() != JsonKind::kList) return false;
    values.clear();
    // Each number is one node.
    if (std::is_arithmetic_v<T>) values.reserve(node().next - place_ - 1);
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
  template <class From, class To>
  static bool narrow(From from, To& to) {
    to = static_cast<To>(from);
    return std::in_range<To>(from);
  }

  [[nodiscard]] const JsonNode& node() const { return nodes_->list[place_]; }
  [[nodiscard]] std::string_view view(JsonNode::Text text) const {
    return std::string_view(nodes_->texts).substr(text.begin, text.size);
  }

  const JsonNodes* nodes_;
  std::size_t place_;
};

[[noreturn]] void fail_value(std::string_view field, const JsonValue& value);

// The field's value, or `fallback` where the field is absent; throws an error that names the field
// where the value has another type.
template <class T>
[[nodiscard]] T value_or(const JsonValue& object, std::string_view field, T fallback) {
  const std::optional<JsonValue> found = object.find(field);
  if (found && !found->get(fallback)) fail_value(field, *found);
  return fallback;
}

// The field's value; nothing where the field is absent.
template <class T>
[[nodiscard]] std::optional<T> value_if_any(const JsonValue& object, std::string_view field) {
  const std::optional<JsonValue> found = object.find(field);
  if (!found) return std::nullopt;
  T value{};
  if (!found->get(value)) fail_value(field, *found);
  return value;
}

// The member `field`; throws an error where the member is absent.
[[nodiscard]] JsonValue required(const JsonValue& object, std::string_view field);

template <class T>
[[nodiscard]] T required_value(const JsonValue& object, std::string_view field) {
  T value{};
  const JsonValue found = required(object, field);
  if (!found.get(value)) fail_value(field, found);
  return value;
}

// The result of `read` for a field that is an object; T{} where the field is absent.
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
