// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

// A value of a JSON document that a person wrote, and where in the document the value lies. Every
// defect is a usage error of one line: the source, the place, the defect, the remedy. Borrows the
// document.
class JsonCursor {
 public:
  using Json = nlohmann::ordered_json;

  // The whole document; errors begin with `source`.
  JsonCursor(const Json& document, std::string source);

  [[noreturn]] void complain(const std::string& what) const;

  // Refuses a value that is not an object, and keys outside `known`, naming the nearest known key.
  void allow(std::initializer_list<std::string_view> known) const;

  // The value of a key: at() requires the key, the other call returns nothing where the object
  // lacks the key.
  [[nodiscard]] JsonCursor at(const char* key) const;
  [[nodiscard]] std::optional<JsonCursor> find(const char* key) const;

  // The elements of a list of at most 100,000, in order.
  [[nodiscard]] std::vector<JsonCursor> elements() const;

  // A text that is not empty, of printable characters, of at most 200 bytes.
  [[nodiscard]] std::string text() const;

  // A whole number, or any finite number, within both bounds.
  [[nodiscard]] std::int64_t whole(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] double number(double least, double most) const;

 private:
  JsonCursor(const Json& value, std::string source, std::string path);

  const Json* value_;
  std::string source_;
  std::string path_;  // "layers[2].forward"; empty: the document
};

}  // namespace tandem
