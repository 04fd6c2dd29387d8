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

// Private to results: fields of a JSON value as values of a type.
namespace tandem::results {

// A value of some JsonNodes, which it borrows.
class JsonValue {
 public:
  JsonValue(const JsonNodes& nodes, std::size_t place) : nodes_(&nodes), place_(place) {}

  [[nodiscard]] JsonKind kind() const { return node().kind; }

  // As a member of an object.
  [[nodiscard]] std::string key() const { return std::string(view(node().key)); }

  // It and whatever it holds, as the library has it.
  [[nodiscard]] Json tree() const;

  // The member of an object; nothing where there is none, or this is none.
  [[nodiscard]] std::optional<JsonValue> find(std::string_view key) const;

  // Hands over each member or element.
  template <class Take>
  void for_each(Take take) const {
    if (kind() != JsonKind::kList && kind() != JsonKind::kObject) return;
    for (std::size_t at = place_ + 1; at < node().next; at = nodes_->list[at].next) {
      take(JsonValue(*nodes_, at));
    }
  }

  // Whether it is one, exactly: 1.5 is no int, and 300 no 8-bit one. Puts it into `value`.
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
