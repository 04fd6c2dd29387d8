// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

namespace tandem {

// A library that is loaded where the process needs it, and never unloaded: other threads may be
// inside it as the process ends.
class Library {
 public:
  explicit Library(const std::string& file)
      : file_(file), library_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (is_loaded()) return;
    const char* const reason = dlerror();
    trouble_ =
        fmt::format("{} does not load ({})", file, reason != nullptr ? reason : "no reason known");
  }

  [[nodiscard]] bool is_loaded() const { return library_ != nullptr; }

  // Puts the function of this name in its place, null where the library lacks it.
  template <class Function>
  void find_optional(Function& place, const char* name) {
    place = is_loaded() ? reinterpret_cast<Function>(dlsym(library_, name)) : nullptr;
  }

  // The same for a function that there is no doing without.
  template <class Function>
  void find(Function& place, const char* name) {
    find_optional(place, name);
    if (place == nullptr && trouble_.empty()) trouble_ = fmt::format("{} has no {}", file_, name);
  }

  // Why the library cannot be used; empty where it can.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  const std::string file_;
  void* const library_;
  std::string trouble_;
};

// The functions that a library gave.
template <class Api>
struct Loaded {
  const Api* api = nullptr;  // absent where it could not be loaded
  std::string trouble;       // the reason, where absent
  std::string version;       // "2.28.9"
};

}  // namespace tandem
