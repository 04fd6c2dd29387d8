// SPDX-License-Identifier: Apache-2.0
#include "common/results/json_reading.h"

#include "common/base/error.h"

namespace tandem::results {

Json JsonValue::tree() const {
  switch (kind()) {
    case JsonKind::kNull:
      return nullptr;
    case JsonKind::kBoolean:
      return node().natural != 0;
    case JsonKind::kInteger:
      return node().integer;
    case JsonKind::kNatural:
      return node().natural;
    case JsonKind::kReal:
      return node().real;
    case JsonKind::kText:
      return std::string(view(node().text));
    case JsonKind::kList:
    case JsonKind::kObject:
      break;
  }
  Json tree = kind() == JsonKind::kList ? Json::array() : Json::object();
  for_each([&](const JsonValue& part) {
    if (kind() == JsonKind::kList) {
      tree.push_back(part.tree());
    } else {
      tree[part.key()] = part.tree();
    }
  });
  return tree;
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
  if (kind() != JsonKind::kObject) return std::nullopt;
  for (std::size_t at = place_ + 1; at < node().next; at = nodes_->list[at].next) {
    if (view(nodes_->list[at].key) == key) return JsonValue(*nodes_, at);
  }
  return std::nullopt;
}

bool JsonValue::get(bool& value) const {
  value = node().natural != 0;
  return kind() == JsonKind::kBoolean;
}

bool JsonValue::get(double& value) const {
  switch (kind()) {
    case JsonKind::kReal:
      value = node().real;
      return true;
    case JsonKind::kInteger:
      value = static_cast<double>(node().integer);
      return true;
    case JsonKind::kNatural:
      value = static_cast<double>(node().natural);
      return true;
    default:
      return false;
  }
}

bool JsonValue::get(std::string& value) const {
  if (kind() != JsonKind::kText) return false;
  value = view(node().text);
  return true;
}

void fail_value(std::string_view field, const JsonValue& value) {
  fail(ErrorKind::kFailure, "field '{}' is {}, which is no value for it", field,
       shown(value.tree()));
}

JsonValue required(const JsonValue& object, std::string_view field) {
  const std::optional<JsonValue> found = object.find(field);
  if (!found) fail(ErrorKind::kFailure, "field '{}' is missing", field);
  return *found;
}

}  // namespace tandem::results
