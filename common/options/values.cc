// SPDX-License-Identifier: Apache-2.0
#include "common/options/values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "common/base/known_names.h"
#include "common/base/text.h"

namespace tandem::options {
namespace {

// The text's place among the choices.
std::optional<std::size_t> place_among(const std::vector<std::string_view>& choices,
                                       std::string_view text) {
  const auto found = std::ranges::find(choices, text);
  if (found == choices.end()) return std::nullopt;
  return static_cast<std::size_t>(found - choices.begin());
}

// The bits in the name of a number format, 16 of "bf16".
std::optional<int> bits_of(std::string_view format) {
  return parse_number<int>(
      format.substr(std::min(format.find_first_of("0123456789"), format.size())));
}

// The hint at the choice that is meant: a number format that is no misspelt choice stands for the
// nearest in bits, as fp8 for bf16.
std::string hint_of(const std::string& text, const std::vector<std::string_view>& choices) {
  const std::string hint = did_you_mean(text, choices);
  const auto bits = bits_of(text);
  const bool are_formats = std::ranges::all_of(
      choices, [](std::string_view choice) { return bits_of(choice).has_value(); });
  if (!hint.empty() || !bits || !are_formats) return hint;
  const auto nearest = std::ranges::min_element(
      choices, {}, [&](std::string_view choice) { return std::abs(*bits_of(choice) - *bits); });
  return fmt::format(" (did you mean '{}'?)", *nearest);
}

void check_choice(Name name, const std::string& text, std::string_view strategy) {
  if (place_among(choices_of(name), text)) return;
  const std::vector<std::string_view> own = choices_of(name, strategy);
  fail(ErrorKind::kUsage, "{}: '{}' is not known: use one of {}{}", name.flag(), text,
       fmt::join(own, ", "), hint_of(text, own));
}

void check_limits(Name name, const std::string& text, std::int64_t number) {
  const Limits& limits = name->value.limits;
  if (number >= limits.least && number <= limits.most) return;
  if (number > limits.most && limits.most == kNoEnd) {
    fail(ErrorKind::kUsage, "{}={}: use {} or less", name.flag(), text, kNoEnd);
  }
  fail(ErrorKind::kUsage, "{}={}: {}", name.flag(), text, limits.refusal);
}

std::int64_t parse_integer(Name name, const std::string& text) {
  if (const auto number = parse_number<std::int64_t>(text)) return *number;
  fail(ErrorKind::kUsage, "{}: '{}' is no whole number: give one such as {}", name.flag(), text,
       name->example);
}

double parse_speed(Name name, const std::string& text) {
  if (name->value.takes.ends_with("|" + text)) return 0;
  const double speed = parse_number<double>(text).value_or(0);
  if (speed > 0 && std::isfinite(speed)) return speed;
  fail(ErrorKind::kUsage, "{}={}: {}", name.flag(), text, name->value.limits.refusal);
}

Bytes parse_mebibytes(Name name, const std::string& text) {
  if (text == "all") return Bytes{std::numeric_limits<std::int64_t>::max()};
  const auto number = parse_number<double>(text);
  if (!number || !(*number >= 0 && *number < 1e9)) {
    fail(ErrorKind::kUsage, "{}: '{}' is no number of MiB: give one such as 25, or all",
         name.flag(), text);
  }
  const Bytes size = parse_bytes(text + "MiB", name.flag());
  if (size.value >= name->value.limits.least) return size;
  fail(ErrorKind::kUsage, "{}: a bucket holds more than {} MiB", name.flag(), text);
}

std::vector<Bytes> parse_sizes(Name name, const std::string& text) {
  std::vector<Bytes> sizes;
  for (const std::string_view part : split(text, ',')) {
    sizes.push_back(parse_bytes(part, name.flag()));
  }
  return sizes;
}

std::vector<int> parse_devices(Name name, const std::string& text) {
  std::vector<int> devices;
  for (const std::string_view part : split(text, ',')) {
    devices.push_back(parse_number<int>(part).value_or(-1));
    if (devices.back() >= 0) continue;
    fail(ErrorKind::kUsage, "{}: '{}' {}, such as {}", name.flag(), part,
         name->value.limits.refusal, name->example);
  }
  return devices;
}

}  // namespace

const Option* find_option(std::string_view name) {
  const auto found =
      std::ranges::find_if(kOptions, [name](const Option& option) { return option.name == name; });
  return found == kOptions.end() ? nullptr : &*found;
}

std::vector<std::string_view> names_with(Mark mark) {
  std::vector<std::string_view> names;
  for (const Option& option : kOptions) {
    if (option.is(mark)) names.push_back(option.name);
  }
  return names;
}

std::vector<std::string_view> choices_of(Name name, std::string_view strategy) {
  std::vector<std::string_view> choices = split(name->value.takes, '|');
  if (!is_among(strategy, name->last_choice_of)) choices.pop_back();
  return choices;
}

void check_form(Name name, const std::string& text, std::string_view strategy) {
  switch (name->value.form) {
    case Form::kText:
      return;
    case Form::kFile:
      if (!text.empty()) return;
      fail(ErrorKind::kUsage, "{}: give a name, such as {}", name.flag(), name->example);
    case Form::kSwitch:
    case Form::kChoice:
      return check_choice(name, text, strategy);
    case Form::kInteger:
      return check_limits(name, text, parse_integer(name, text));
    case Form::kSpeed:
      return static_cast<void>(parse_speed(name, text));
    case Form::kDuration:
      return check_limits(name, text, parse_duration(text, name.flag()).count());
    case Form::kCosts:
      return static_cast<void>(parse_dispatch_costs(text, name.flag()));
    case Form::kSizes:
      return static_cast<void>(parse_sizes(name, text));
    case Form::kMebibytes:
      return static_cast<void>(parse_mebibytes(name, text));
    case Form::kDevices:
      return static_cast<void>(parse_devices(name, text));
  }
}

void Values::give(Name name, const std::string& text) {
  std::string& given = given_[name.index()].emplace(text);
  if (name->value.form == Form::kSwitch && text == "true") given = "on";
  if (name->value.form == Form::kSwitch && text == "false") given = "off";
  if (name->value.form != Form::kInteger) return;
  if (const auto number = parse_number<std::int64_t>(text)) given = std::to_string(*number);
}

std::string Values::usual(Name name) const {
  return name->usual_of == nullptr ? std::string(name->value.usual) : name->usual_of(*this);
}

bool Values::is_set(Name name) const {
  const auto& given = given_[name.index()];
  return given && *given != usual(name);
}

std::string Values::in_force(Name name) const {
  const auto& given = given_[name.index()];
  return given ? *given : usual(name);
}

std::string Values::text(Name name) const {
  read_.set(name.index());
  return in_force(name);
}

bool Values::is(Name name, std::string_view names) const {
  const std::string value = in_force(name);
  for (const std::string_view one : split(names, '|')) {
    if (value == one) return true;
    if (value.starts_with(one) && (value[one.size()] == ':' || value[one.size()] == '@'))
      return true;
  }
  return false;
}

std::int64_t Values::integer(Name name) const {
  const std::string value = text(name);
  return value.empty() ? 0 : parse_integer(name, value);
}

int Values::count(Name name) const {
  const std::string value = text(name);
  if (value.empty()) return 0;
  const std::int64_t number = parse_integer(name, value);
  check_limits(name, value, number);
  return static_cast<int>(number);
}

double Values::speed(Name name) const {
  const std::string value = text(name);
  return value.empty() ? 0 : parse_speed(name, value);
}

Nanoseconds Values::duration(Name name) const {
  const std::string value = text(name);
  return value.empty() ? Nanoseconds{0} : parse_duration(value, name.flag());
}

DispatchCosts Values::costs(Name name) const {
  const std::string value = text(name);
  return value.empty() ? DispatchCosts() : parse_dispatch_costs(value, name.flag());
}

Bytes Values::mebibytes(Name name) const {
  const std::string value = text(name);
  return parse_mebibytes(name, value.empty() ? std::string(name->value.implied) : value);
}

std::vector<Bytes> Values::sizes(Name name) const {
  const std::string value = text(name);
  return value.empty() ? std::vector<Bytes>{} : parse_sizes(name, value);
}

std::vector<int> Values::devices(Name name) const {
  const std::string value = text(name);
  return value.empty() ? std::vector<int>{} : parse_devices(name, value);
}

StrategyKind Values::strategy() const {
  return kStrategies[choice("strategy", kStrategies.size())].kind;
}

std::map<std::string, std::string> Values::named() const {
  std::map<std::string, std::string> named;
  for (const Option& option : kOptions) {
    if (option.is(kNamed) && is_set(option)) named[std::string(option.name)] = in_force(option);
  }
  return named;
}

std::vector<std::string> Values::unread() const {
  std::vector<std::string> names;
  for (const Option& option : kOptions) {
    if (!read_[Name(option).index()]) names.emplace_back(option.name);
  }
  return names;
}

std::size_t Values::choice(Name name, std::size_t count) const {
  const std::string value = text(name);
  check_choice(name, value, "");
  const std::vector<std::string_view> choices = choices_of(name);
  TANDEM_CHECK(choices.size() == count, "{} has {} choices, and its reader knows {}", name.flag(),
               choices.size(), count);
  return *place_among(choices, value);
}

std::string launch_of_strategy(const Values& values) {
  return std::string(usual_launch(values.text("strategy")));
}

std::string devices_in_order(const Values& values) {
  std::string all = "0";
  for (int i = 1; i < values.count("devices"); ++i) all += fmt::format(",{}", i);
  return all;
}

std::string root_device(const Values& values) {
  return std::to_string(values.devices("device-ids").front());
}

}  // namespace tandem::options
