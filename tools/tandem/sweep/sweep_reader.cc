// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/sweep/sweep_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/base/error.h"
#include "common/base/known_names.h"

namespace tandem::cli {
namespace {

// The one value, or the values of a list that is not empty.
std::vector<SweepJson> elements(const SweepReader& reader, const char* key) {
  const SweepJson& value = reader.at(key);
  if (!value.is_array()) return {value};
  if (value.empty()) reader.complain(fmt::format("key '{}' is empty", key));
  return {value.begin(), value.end()};
}

constexpr std::size_t kLongestText = 1000;

// Whether a text is one line, since names, commands and errors hold such texts.
bool is_line(const std::string& text) {
  return text.size() <= kLongestText && std::none_of(text.begin(), text.end(), [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
         });
}

}  // namespace

SweepReader::SweepReader(const SweepJson& object, std::string where)
    : object_(object), where_(std::move(where)) {
  if (!object.is_object()) complain("must be an object, such as {\"model\": \"mlp-small\"}");
}

void SweepReader::complain(const std::string& what) const {
  fail(ErrorKind::kUsage, "{}: {}", where_, what);
}

void SweepReader::allow(std::initializer_list<std::string_view> keys) const {
  for (const auto& [key, value] : object_.items()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    complain(fmt::format("unknown key {}{}; known are {}", quoted(key),
                         did_you_mean(key, {keys.begin(), keys.size()}), fmt::join(keys, ", ")));
  }
}

const SweepJson& SweepReader::at(const char* key) const {
  if (!has(key)) complain(fmt::format("key '{}' is missing", key));
  return object_.at(key);
}

std::string SweepReader::text(const char* key) const {
  const std::vector<std::string> found = texts(key);
  if (at(key).is_array()) complain(fmt::format("key '{}' must be one text", key));
  return found.front();
}

std::vector<std::string> SweepReader::texts(const char* key) const {
  std::vector<std::string> found;
  for (const SweepJson& element : elements(*this, key)) {
    if (!element.is_string() || element.get<std::string>().empty()) {
      complain(fmt::format("key '{}' must be a text that is not empty", key));
    }
    if (!is_line(element.get<std::string>())) {
      complain(fmt::format("key '{}' holds {}: it must be one line, of at most {} bytes", key,
                           shown(element), kLongestText));
    }
    found.push_back(element.get<std::string>());
  }
  return found;
}

std::vector<std::int64_t> SweepReader::counts(const char* key) const {
  std::vector<std::int64_t> numbers;
  for (const SweepJson& element : elements(*this, key)) {
    if (!element.is_number_integer() || element.get<std::int64_t>() < 1 ||
        element.get<std::int64_t>() > 1'000'000'000) {
      complain(
          fmt::format("key '{}' holds {}: it must be a whole number from 1", key, shown(element)));
    }
    numbers.push_back(element.get<std::int64_t>());
  }
  return numbers;
}

std::vector<std::string> SweepReader::names(const char* key,
                                            std::span<const std::string_view> known) const {
  std::vector<std::string> found;
  for (const SweepJson& element : elements(*this, key)) {
    const std::string name = element.is_string() ? element.get<std::string>() : shown(element);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      complain(fmt::format("key '{}' holds {}{}; known are {}", key, shown(element),
                           did_you_mean(name, known), fmt::join(known, ", ")));
    }
    found.push_back(name);
  }
  return found;
}

int SweepReader::count(const char* key, int fallback, int most) const {
  if (!has(key)) return fallback;
  const std::vector<std::int64_t> numbers = counts(key);
  if (numbers.size() != 1) complain(fmt::format("key '{}' must be one number", key));
  if (numbers.front() > most) {
    complain(fmt::format("key '{}' is above {}", key, most));
  }
  return static_cast<int>(numbers.front());
}

std::vector<std::pair<const SweepJson*, std::string>> SweepReader::objects(const char* key) const {
  const SweepJson& value = at(key);
  if (!value.is_array() || value.empty()) {
    complain(fmt::format("key '{}' must be a list that is not empty", key));
  }
  std::vector<std::pair<const SweepJson*, std::string>> found;
  for (const SweepJson& element : value) {
    found.emplace_back(&element, fmt::format("{}, {}[{}]", where_, key, found.size()));
  }
  return found;
}

std::string shown(const SweepJson& value) {
  constexpr std::size_t kMost = 80;
  const std::string text = value.dump(-1, ' ', true, SweepJson::error_handler_t::replace);
  return text.size() <= kMost ? text
                              : fmt::format("{}...", std::string_view(text).substr(0, kMost));
}

std::string quoted(const std::string& name) {
  const std::string text = shown(SweepJson(name));
  return fmt::format("'{}'", std::string_view(text).substr(1, text.size() - 2));
}

std::string option_text(const SweepJson& value, const SweepReader& reader,
                        const std::string& name) {
  if (value.is_string()) {
    if (is_line(value.get<std::string>())) return value.get<std::string>();
    reader.complain(fmt::format("option {} holds {}: it must be one line, of at most {} bytes",
                                quoted(name), shown(value), kLongestText));
  }
  if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
  if (!value.is_number()) {
    reader.complain(fmt::format("option {} must be a text or a number", quoted(name)));
  }
  return value.dump();
}

}  // namespace tandem::cli
