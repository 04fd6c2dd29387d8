// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tandem::cli {

// Where one launch may leave files while it runs: all of it goes with this object, however the
// launch ended. A launcher that is killed, or whose ranks are, leaves sockets in the temporary
// folder and segments in /dev/shm.
class LaunchScratch {
 public:
  // Which kinds of files the launch makes: those of one process, of mpirun on this node, or of
  // mpirun on several, whose other nodes do not have these folders.
  enum class Kind { kProcess, kOneNode, kSeveralNodes };

  // Throws a failure where the folders cannot be made.
  explicit LaunchScratch(Kind kind);
  ~LaunchScratch();
  LaunchScratch(const LaunchScratch&) = delete;
  LaunchScratch& operator=(const LaunchScratch&) = delete;

  // "NAME=value": what makes the launch use them.
  [[nodiscard]] const std::vector<std::string>& environment() const { return environment_; }

 private:
  std::vector<std::filesystem::path> folders_;
  std::vector<std::string> environment_;
};

// Removes what processes of this user that are gone left in /dev/shm and the temporary folder under
// names of the form "tandem.PID.*": a rank may be killed between making a segment and unlinking it,
// and this program at any time.
void remove_what_the_dead_left();

// The same in one folder.
void remove_what_the_dead_left(const std::filesystem::path& folder);

}  // namespace tandem::cli
