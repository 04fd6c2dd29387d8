// SPDX-License-Identifier: Apache-2.0
//
// What rules on options (rules.cc) are made of.
#pragma once

#include <string_view>

#include "common/options/values.h"

namespace tandem::options {

// A fact about one option of a command line.
struct Fact {
  enum class Kind { kGiven, kAbsent, kSet, kIs, kIsNot };

  Kind kind = Kind::kGiven;
  Name option;
  std::string_view names{};  // of kIs and kIsNot, "one|two"
};

// string_view::find compares pointers, which g++ 12 refuses in a constant under
// -fsanitize=undefined.
consteval std::size_t place_of(char wanted, std::string_view text) {
  for (std::size_t place = 0; place < text.size(); ++place) {
    if (text[place] == wanted) return place;
  }
  return std::string_view::npos;
}

// Whether `choices`, "one|two:RANK", have one of that name.
consteval bool have(std::string_view choices, std::string_view name) {
  const std::size_t bar = place_of('|', choices);
  const std::string_view first = choices.substr(0, bar);
  if (first.substr(0, place_of(':', first)) == name) return true;
  return bar != choices.npos && have(choices.substr(bar + 1), name);
}

// Whether each of `names` is a choice of the option; true where the table lists no choices.
consteval bool are_choices(std::string_view names, Name option) {
  const Form form = option->value.form;
  if (form != Form::kChoice && form != Form::kSwitch) return true;
  const std::size_t bar = place_of('|', names);
  if (!have(option->value.takes, names.substr(0, bar))) return false;
  return bar == names.npos || are_choices(names.substr(bar + 1), option);
}

// The option is on the command line, or is not.
constexpr Fact given(Name option) { return {Fact::Kind::kGiven, option}; }
constexpr Fact absent(Name option) { return {Fact::Kind::kAbsent, option}; }
// The value differs from its default.
constexpr Fact set(Name option) { return {Fact::Kind::kSet, option}; }
// The value in force is one of `names`, or is none of them. A name that is no choice of the option
// does not compile.
consteval Fact is(Name option, std::string_view names, Fact::Kind kind = Fact::Kind::kIs) {
  if (!are_choices(names, option)) throw "the option has no such choice";
  return {kind, option, names};
}
consteval Fact is_not(Name option, std::string_view names) {
  return is(option, names, Fact::Kind::kIsNot);
}

[[nodiscard]] inline bool holds(const Fact& fact, const Values& values) {
  switch (fact.kind) {
    case Fact::Kind::kGiven:
      return values.is_given(fact.option);
    case Fact::Kind::kAbsent:
      return !values.is_given(fact.option);
    case Fact::Kind::kSet:
      return values.is_set(fact.option);
    case Fact::Kind::kIs:
      return values.is(fact.option, fact.names);
    case Fact::Kind::kIsNot:
      return !values.is(fact.option, fact.names);
  }
  return false;
}

}  // namespace tandem::options
