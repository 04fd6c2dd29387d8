// SPDX-License-Identifier: Apache-2.0
#include "pretend/core/check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

#include "pretend/core/settings.h"

namespace tandem::pretend::check {

bool on = std::getenv(kCheckVariable) != nullptr;

namespace {

using Before = std::map<int, uint64_t>;  // by communicator, the last call

struct State {
  std::mutex mutex{};
  std::condition_variable changed{};
  int matcher = -1;  // the socket
  bool gone = false;
  bool greeted = false;
  std::map<int, uint64_t> called{};  // by communicator
  std::map<int, uint64_t> done{};
  std::map<std::pair<int, uint32_t>, Before> streams{};  // by device and number
  std::map<const Event*, Before> events{};
};

State*& state_of_process() {
  static State* state = new State;  // never destroyed: threads wait until the process is gone
  return state;
}

State& state() { return *state_of_process(); }

constexpr uint64_t kAll = UINT64_MAX;

// All below have the mutex held, but for what threads begin with.

Before& before(Target target) {
  return state().streams[{target.device, target.stream == 1 ? 0 : target.stream}];
}

// Leaves out what is complete.
const Before& pruned(Before& before) {
  std::erase_if(before, [](const auto& call) { return call.second <= state().done[call.first]; });
  return before;
}

void merge(Before& into, const Before& more) {
  for (const auto& [communicator, number] : more) {
    into[communicator] = std::max(into[communicator], number);
  }
}

std::string text_of(const Before& before) {
  std::string text;
  for (const auto& [communicator, number] : before) {
    text.append(text.empty() ? 0 : 1, ',').append(std::to_string(communicator));
    text.append(1, ':').append(std::to_string(number));
  }
  return text.empty() ? "-" : text;
}

// A matcher that is gone lets everybody go on: what started the job is gone with it.
void lose_matcher() {
  state().gone = true;
  state().changed.notify_all();
}

void send(std::string line) {
  line += '\n';
  for (size_t sent = 0; sent < line.size() && !state().gone;) {
    const ssize_t more =
        ::send(state().matcher, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (more < 0 && errno != EINTR) lose_matcher();
    sent += more < 0 ? 0 : static_cast<size_t>(more);
  }
}

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

// "FILE:LINE OUTER" of the main thread's Python: its innermost line outside installed packages and
// the standard library, and the file of its innermost line of all. "- -" where no Python runs here.
// Takes Python's lock.
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

void answer_with_line() {
  const std::string line = "line " + python_line();  // waits for Python's lock
  const std::lock_guard lock(state().mutex);
  send(line);
}

void hear(const std::string& line) {
  int communicator = 0;
  unsigned long long number = 0;
  if (line == "line") {
    std::thread(answer_with_line).detach();
  } else if (std::sscanf(line.c_str(), "done %d %llu", &communicator, &number) == 2) {
    const std::lock_guard lock(state().mutex);
    uint64_t& done = state().done[communicator];
    done = std::max<uint64_t>(done, number);
    state().changed.notify_all();
  }
}

// A thread of its own, to the end of the process.
void listen(int socket) {
  std::string text;
  char buffer[4096];
  for (ssize_t got = 1; got > 0;) {
    got = recv(socket, buffer, sizeof buffer, 0);
    text.append(buffer, static_cast<size_t>(std::max<ssize_t>(got, 0)));
    for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      hear(text.substr(0, end));
      text.erase(0, end + 1);
    }
  }
  const std::lock_guard lock(state().mutex);
  lose_matcher();
}

// The signals of the process are for its own threads.
void start_listening() {
  sigset_t all;
  sigset_t old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  std::thread(listen, state().matcher).detach();
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

// The name is of Linux' abstract names, so that no file stays behind.
void connect_if_needed() {
  if (state().matcher >= 0 || state().gone) return;
  const std::string name(std::getenv(kCheckVariable));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 2);
  state().matcher = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (connect(state().matcher, reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    state().gone = true;
    return;
  }
  start_listening();
}

// What a launcher says about the process, torchrun, Open MPI or srun: "RANK WORLD".
std::string rank_and_world() {
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"RANK", "WORLD_SIZE"},
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
      {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
  for (const auto& [rank, world] : kNames) {
    if (std::getenv(rank) != nullptr && std::getenv(world) != nullptr) {
      return std::to_string(std::atoi(std::getenv(rank))) + " " +
             std::to_string(std::atoi(std::getenv(world)));
    }
  }
  return "- -";
}

[[maybe_unused]] const bool greeted = (on ? greet() : void(), true);

void wait(std::unique_lock<std::mutex>& lock, Before calls) {
  if (pruned(calls).empty()) return;
  const bool is_main = getpid() == static_cast<pid_t>(syscall(SYS_gettid));
  send("wait " + std::to_string(static_cast<int>(is_main)) + " " + text_of(calls));
  state().changed.wait(lock, [&] { return state().gone || pruned(calls).empty(); });
}

}  // namespace

void greet() {
  const std::lock_guard lock(state().mutex);
  if (state().greeted || dlsym(RTLD_DEFAULT, "Py_IsInitialized") == nullptr) return;
  if (const std::string rank = rank_and_world(); rank != "- -") {
    state().greeted = true;
    connect_if_needed();
    send("hello " + rank);
  }
}

void join(int communicator, const std::string& name, int rank, int ranks) {
  const std::lock_guard lock(state().mutex);
  connect_if_needed();
  state().called[communicator] = kJoin;
  send("join " + std::to_string(communicator) + " " + name + " " + std::to_string(rank) + " " +
       std::to_string(ranks) + " " + rank_and_world());
}

void leave(int communicator, bool aborted) {
  const std::lock_guard lock(state().mutex);
  if (aborted) {
    state().done[communicator] = kAll;
    state().changed.notify_all();
  }
  send("leave " + std::to_string(communicator) + " " + std::to_string(static_cast<int>(aborted)));
}

void call(std::vector<Call>& group) {
  const std::string line = python_line();
  const std::lock_guard lock(state().mutex);
  std::vector<Before> befores;
  for (const Call& call : group) {
    Before calls = before(call.target);
    merge(calls, {{call.communicator, state().called[call.communicator]}});
    befores.push_back(pruned(calls));
  }
  for (size_t at = 0; at < group.size(); ++at) {
    Call& call = group[at];
    call.number = ++state().called[call.communicator];
    before(call.target)[call.communicator] = call.number;
    send("call " + std::to_string(call.communicator) + " " + call.what + " " +
         text_of(befores[at]) + " " + line);
  }
}

void wait_for_call(int communicator, uint64_t call) {
  std::unique_lock lock(state().mutex);
  wait(lock, {{communicator, call}});
}

void wait_for_stream(Target target) {
  std::unique_lock lock(state().mutex);
  wait(lock, before(target));
}

void wait_for_device(int device) {
  std::unique_lock lock(state().mutex);
  Before calls;
  for (const auto& [stream, before] : state().streams) {
    if (stream.first == device) merge(calls, before);
  }
  wait(lock, calls);
}

void wait_for_event(const Event* event) {
  std::unique_lock lock(state().mutex);
  wait(lock, state().events[event]);
}

bool is_complete(Target target) {
  const std::lock_guard lock(state().mutex);
  return state().gone || pruned(before(target)).empty();
}

bool is_complete(const Event* event) {
  const std::lock_guard lock(state().mutex);
  return state().gone || pruned(state().events[event]).empty();
}

void record(const Event* event, Target target) {
  const std::lock_guard lock(state().mutex);
  state().events[event] = pruned(before(target));
}

void let_wait(Target target, const Event* event) {
  const std::lock_guard lock(state().mutex);
  merge(before(target), pruned(state().events[event]));
}

void forget(const Event* event) {
  const std::lock_guard lock(state().mutex);
  state().events.erase(event);
}

void say_exit(int status) {
  const std::lock_guard lock(state().mutex);
  if (state().matcher >= 0) send("exit " + std::to_string(status & 0xff));
}

void forget_parent() {
  if (state().matcher >= 0) close(state().matcher);
  state_of_process() =
      new State;  // another thread of the parent may have been changing the old one
}

}  // namespace tandem::pretend::check
