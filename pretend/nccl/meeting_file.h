// SPDX-License-Identifier: Apache-2.0
//
// The file in /dev/shm by which the ranks of a communicator find each other. The last rank to join
// unlinks it. Where a rank dies before that, the file stays until the next job asks for a name: a
// file is held by a lock of every rank that has it open, and the system takes the locks of a dead
// process away, so what nobody holds is left behind.
#pragma once

#include <boost/noncopyable.hpp>
#include <cstdint>
#include <string>

namespace tandem::pretend {

// A rank's view of the file. Holds it as long as it lives.
class MeetingFile : boost::noncopyable {
 public:
  // Makes the file or finds it, with at least so many bytes.
  MeetingFile(const std::string& name, uint64_t bytes);
  ~MeetingFile();

  [[nodiscard]] void* memory() const { return memory_; }  // nullptr, where error() says why
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  void unlink() const;  // nobody else will look for it

 private:
  void map();

  std::string path_;
  uint64_t bytes_;
  int file_ = -1;
  void* memory_ = nullptr;
  int error_ = 0;
};

// "tandem-pretended-" and 16 digits that no other meeting has; under --check the job's name goes in
// between, by which start/ removes its files. Removes what was left behind.
[[nodiscard]] std::string new_meeting_name();

}  // namespace tandem::pretend
