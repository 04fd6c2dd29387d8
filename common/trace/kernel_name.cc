// SPDX-License-Identifier: Apache-2.0
#include "common/trace/kernel_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <memory>
#include <regex>

namespace tandem {
namespace {

constexpr std::size_t kMost = 80;

// `a::b<...>` of a nested name whose arguments nobody can read, such as _ZN1a1bI...
std::string begin_of(const std::string& name) {
  std::string kept;
  const char* const end = name.data() + name.size();
  for (const char* at = name.data() + 3; at < end;) {
    std::size_t length = 0;
    const auto number = std::from_chars(at, end, length);
    if (number.ec != std::errc() || length > static_cast<std::size_t>(end - number.ptr)) break;
    kept += (kept.empty() ? "" : "::") + std::string(number.ptr, length);
    at = number.ptr + length;
  }
  return kept.empty() ? name : kept + "<...>";
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  if (status == 0 && text) return text.get();
  return name.starts_with("_ZN") ? begin_of(name) : name;
}

// Template arguments may have parentheses too, so only the parentheses at the name's end are
// dropped.
void drop_parameters(std::string& name) {
  if (!name.ends_with(')')) return;
  int depth = 0;
  for (std::size_t at = name.size(); at-- > 0;) {
    if (name[at] == ')') ++depth;
    if (name[at] == '(' && --depth == 0) return name.resize(at);
  }
}

// The position behind the last `what` outside template arguments; 0 where there is none.
std::size_t behind_last(const std::string& name, char what) {
  std::size_t found = 0;
  int depth = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name[at] == '<') ++depth;
    if (name[at] == '>') --depth;
    if (name[at] == what && depth == 0) found = at + 1;
  }
  return found;
}

// Whether a character may stand in a trace: a trace is JSON, which takes no bytes that are not
// text.
bool is_plain(char one) { return one >= ' ' && one <= '~'; }

std::string without_arguments(const std::string& name) {
  std::string kept;
  int depth = 0;
  for (const char one : name) {
    if (one == '<' && depth++ == 0) kept += "<...>";
    if (depth == 0) kept += one;
    if (one == '>') --depth;
  }
  return kept;
}

}  // namespace

std::string kernel_name(const std::string& linker_name) {
  std::string name =
      std::regex_replace(demangled(linker_name), std::regex("\\(anonymous namespace\\)::"), "");
  drop_parameters(name);
  name.erase(0, behind_last(name, ' '));  // the return type, which only names of templates have
  if (name.size() > kMost) {
    const std::string all = std::regex_replace(name, std::regex("\\w+::"), "");  // a::b<c::d>: b<d>
    name = all.size() > kMost ? without_arguments(name) : all;
  }
  if (name.size() > kMost) name.erase(0, behind_last(name, ':'));
  if (name.size() > kMost) name = name.substr(0, kMost - 3) + "...";
  std::ranges::replace_if(name, std::not_fn(is_plain), '?');
  return name.empty() ? "kernel" : name;
}

}  // namespace tandem
