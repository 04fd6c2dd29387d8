// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Private to the readers of sweep files: the JSON library stays inside them.
namespace tandem::cli {

using SweepJson = nlohmann::ordered_json;

// Reads one object of a sweep file; every usage error names the file, the place in the file, and
// the key.
class SweepReader {
 public:
  SweepReader(const SweepJson& object, std::string where);

  [[noreturn]] void complain(const std::string& what) const;

  // Throws a usage error on a key outside `keys`, with the nearest of `keys`.
  void allow(std::initializer_list<std::string_view> keys) const;

  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] const SweepJson& object() const { return object_; }
  [[nodiscard]] bool has(const char* key) const { return object_.contains(key); }
  [[nodiscard]] const SweepJson& at(const char* key) const;

  // A text of 1 to 1000 bytes, in one line.
  [[nodiscard]] std::string text(const char* key) const;
  // One such text, or a list of such texts.
  [[nodiscard]] std::vector<std::string> texts(const char* key) const;
  // A whole number from 1, or a list of such numbers.
  [[nodiscard]] std::vector<std::int64_t> counts(const char* key) const;
  // A text that is one of `known`, or a list of such texts.
  [[nodiscard]] std::vector<std::string> names(const char* key,
                                               std::span<const std::string_view> known) const;
  // A whole number from 1 to `most`.
  [[nodiscard]] int count(const char* key, int fallback, int most) const;

  // The objects of a list, each with its place in the file.
  [[nodiscard]] std::vector<std::pair<const SweepJson*, std::string>> objects(
      const char* key) const;

 private:
  const SweepJson& object_;
  std::string where_;
};

// The value of a file, cut to fit into a line.
[[nodiscard]] std::string shown(const SweepJson& value);

// A key or name between quotes, control characters escaped, since an error is one line.
[[nodiscard]] std::string quoted(const std::string& name);

// A value of an option as the command line takes it: true and false become on and off.
[[nodiscard]] std::string option_text(const SweepJson& value, const SweepReader& reader,
                                      const std::string& name);

}  // namespace tandem::cli
