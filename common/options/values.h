// SPDX-License-Identifier: Apache-2.0
//
// The values of a step's options as a command line or a cell of a sweep gives them: text, looked up
// by name. An option's owner turns its text into a type.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/dispatch_costs.h"
#include "common/base/error.h"
#include "common/base/units.h"
#include "common/options/table.h"

namespace tandem::options {

// An option by name. A literal that names no option of the table does not compile.
class Name {
 public:
  consteval Name(const char* name) : option_(&at(name)) {}    // NOLINT(google-explicit-constructor)
  constexpr Name(const Option& option) : option_(&option) {}  // NOLINT(google-explicit-constructor)

  constexpr const Option* operator->() const { return option_; }
  constexpr const Option& operator*() const { return *option_; }
  [[nodiscard]] constexpr std::size_t index() const {
    return static_cast<std::size_t>(option_ - kOptions.data());
  }
  // As a command line has it.
  [[nodiscard]] std::string flag() const {
    return (option_->is(kWord) ? "" : "--") + std::string(option_->name);
  }

 private:
  static constexpr const Option& at(std::string_view name) {
    for (const Option& option : kOptions) {
      if (option.name == name) return option;
    }
    throw "the table has no such option";
  }

  const Option* option_;
};

// The option of a name that was read from somewhere; null where the table has none.
[[nodiscard]] const Option* find_option(std::string_view name);

// The names of the entries with that mark.
[[nodiscard]] std::vector<std::string_view> names_with(Mark mark);

// The names that an option of Form::kChoice or kSwitch takes, in the strategy of that name.
[[nodiscard]] std::vector<std::string_view> choices_of(Name name, std::string_view strategy = "");

// Throws a usage error that names the option where the text has not the form that the table asks
// for; the error lists the choices in `strategy`.
void check_form(Name name, const std::string& text, std::string_view strategy = "");

// Copyable. An owner's reading is not thread-safe, since the values keep account of it.
class Values {
 public:
  // Sets the option to a text; numbers and switches become their usual spelling.
  void give(Name name, const std::string& text);

  [[nodiscard]] bool is_given(Name name) const { return given_[name.index()].has_value(); }
  // The default, which may follow from the other values.
  [[nodiscard]] std::string usual(Name name) const;
  // Whether the value differs from the default.
  [[nodiscard]] bool is_set(Name name) const;

  // The value in force: as given, or the default; "" where there is neither.
  [[nodiscard]] std::string in_force(Name name) const;
  // Whether the value in force is one of `names`, "one|two", or begins with one and ':' or '@'.
  [[nodiscard]] bool is(Name name, std::string_view names) const;

  // The functions below are for an option's owner, and note that the option was read.

  // The value in force.
  [[nodiscard]] std::string text(Name name) const;
  [[nodiscard]] bool is_on(Name name) const { return text(name) == "on"; }

  // The value in force of the form of that name. Throw usage errors; a value that was checked has
  // none.
  [[nodiscard]] std::int64_t integer(Name name) const;  // 0 where there is none
  [[nodiscard]] int count(Name name) const;             // of a value within int
  [[nodiscard]] double speed(Name name) const;          // 0 where there is none
  [[nodiscard]] Nanoseconds duration(Name name) const;  // 0 where there is none
  [[nodiscard]] DispatchCosts costs(Name name) const;   // none where there is none
  [[nodiscard]] Bytes mebibytes(Name name) const;       // "all" is the largest number of bytes
  [[nodiscard]] std::vector<Bytes> sizes(Name name) const;
  [[nodiscard]] std::vector<int> devices(Name name) const;

  // The value in force as one of `kinds`, which stand in the order of the table's choices.
  template <class T, std::size_t N>
  [[nodiscard]] T pick(Name name, const T (&kinds)[N]) const {
    return kinds[choice(name, N)];
  }
  [[nodiscard]] StrategyKind strategy() const;

  // The options in a cell's name: those that differ from their defaults, as given.
  [[nodiscard]] std::map<std::string, std::string> named() const;

  // The entries of the table that nothing has read from these values yet.
  [[nodiscard]] std::vector<std::string> unread() const;

 private:
  // The place of the value in force among the table's choices, of which the caller knows `count`.
  [[nodiscard]] std::size_t choice(Name name, std::size_t count) const;

  std::array<std::optional<std::string>, kOptions.size()> given_{};
  mutable std::bitset<kOptions.size()> read_{};
};

}  // namespace tandem::options
