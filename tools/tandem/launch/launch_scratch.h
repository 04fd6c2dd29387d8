// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tandem::cli {

// A new folder "tandem.PID.XXXXXX", which the destructor removes with all that it holds.
class TemporaryFolder : boost::noncopyable {
 public:
  // Makes the folder in `parent`, or in the system's temporary folder. Throws a failure where that
  // fails.
  explicit TemporaryFolder(const std::filesystem::path& parent = {});
  ~TemporaryFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Folders for the files of one running launch. The destructor removes all files, however the launch
// ended: an mpirun that is killed, or whose ranks are killed, leaves sockets in the temporary
// folder and segments in /dev/shm.
class LaunchScratch : boost::noncopyable {
 public:
  // The kind of launch, which decides its files: one process, mpirun on this node, or mpirun on
  // several nodes, where the other nodes lack these folders.
  enum class Kind { kProcess, kOneNode, kSeveralNodes };

  // Throws a failure where no folder can be made, or mpirun would lack room in it.
  explicit LaunchScratch(Kind kind);
  ~LaunchScratch();

  // The variables, as "NAME=value", that make the launch use the folders.
  [[nodiscard]] const std::vector<std::string>& environment() const { return environment_; }

 private:
  std::optional<TemporaryFolder> files_;
  std::optional<TemporaryFolder> shared_;  // in /dev/shm
  std::vector<std::string> environment_;
};

// Removes the files "tandem.PID.*" in /dev/shm and the temporary folder whose process, of this
// user, is gone: a rank may be killed between making a segment and unlinking the segment, and this
// program at any time.
void remove_what_the_dead_left();

// Removes such files from one folder.
void remove_what_the_dead_left(const std::filesystem::path& folder);

}  // namespace tandem::cli
