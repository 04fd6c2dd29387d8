// SPDX-License-Identifier: Apache-2.0
#include "pretend/core/python_line.h"

#include <dlfcn.h>
#include <pthread.h>

namespace tandem::pretend {
namespace {

constexpr const char* kUnknown = "- -";

// By Python's own number. The module `threading` knows it too, but takes the thread that imports it
// first for the main one: that would be a thread of these libraries.
unsigned long main_thread = pthread_self();
[[maybe_unused]] const int at_fork =
    pthread_atfork(nullptr, nullptr, [] { main_thread = pthread_self(); });

// In Python's own words, which are the same in every version: its frames are not. Blanks part a
// message's words, so names of files have ? for them.
constexpr const char* kScript = R"(
def line(main_thread):
    import os, sys
    library = os.path.dirname(os.__file__) + os.sep
    here = os.getcwd() + os.sep
    frame = sys._current_frames().get(main_thread)
    words = ["-", frame.f_code.co_filename if frame else "-"]
    while frame:
        file = frame.f_code.co_filename
        if not (file.startswith(("<", library)) or "site-packages" in file or "dist-packages" in file):
            words[0] = f"{file[len(here):] if file.startswith(here) else file}:{frame.f_lineno}"
            break
        frame = frame.f_back
    return " ".join(word.replace(" ", "?") for word in words)
)";

using Object = void*;  // PyObject*

template <typename Function>
Function symbol(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// The function above, in names of its own. nullptr where it cannot be made.
Object make_function() {
  constexpr int kFileInput = 257;  // Py_file_input
  const Object names = symbol<Object (*)()>("PyDict_New")();
  symbol<Object (*)(const char*, int, Object, Object)>("PyRun_String")(kScript, kFileInput, names,
                                                                       names);
  return symbol<Object (*)(Object, const char*)>("PyDict_GetItemString")(names, "line");
}

// With Python's lock held.
std::string ask() {
  // Kept as long as the process. Python's lock guards it: the guard of a local static would be a
  // second lock, and making the function may let go of Python's.
  static Object function = nullptr;
  function = function == nullptr ? make_function() : function;
  const Object answer = function == nullptr
                            ? nullptr
                            : symbol<Object (*)(Object, const char*, ...)>("PyObject_CallFunction")(
                                  function, "k", main_thread);
  if (answer == nullptr) {
    symbol<void (*)()>("PyErr_Clear")();
    return kUnknown;
  }
  const char* const text = symbol<const char* (*)(Object)>("PyUnicode_AsUTF8")(answer);
  if (text == nullptr) {  // a file's name that is no UTF-8
    symbol<void (*)()>("PyErr_Clear")();
  }
  const std::string line = text == nullptr ? kUnknown : text;
  symbol<void (*)(Object)>("Py_DecRef")(answer);
  return line;
}

}  // namespace

std::string python_line() {
  const auto is_running = symbol<int (*)()>("Py_IsInitialized");
  auto is_ending = symbol<int (*)()>("Py_IsFinalizing");  // since 3.13; before by the other name
  is_ending = is_ending == nullptr ? symbol<int (*)()>("_Py_IsFinalizing") : is_ending;
  const auto take_lock = symbol<int (*)()>("PyGILState_Ensure");
  const auto give_lock = symbol<void (*)(int)>("PyGILState_Release");
  if (is_running == nullptr || is_ending == nullptr || is_running() == 0 || is_ending() != 0) {
    return kUnknown;
  }
  const int state = take_lock();
  const std::string line = ask();
  give_lock(state);
  return line;
}

}  // namespace tandem::pretend
