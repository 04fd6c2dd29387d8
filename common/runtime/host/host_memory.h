// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <cstddef>
#include <memory>
#include <string>

#include "common/base/units.h"
#include "common/runtime/device.h"

namespace tandem::host {

// Allocates memory of the host itself, beside its devices. Throws an out-of-memory error where less
// is left.
[[nodiscard]] std::unique_ptr<Buffer> allocate_host_memory(Bytes size);

// Memory that this process may still take: the machine's available memory, or the rest that the
// process's control group (version 2) leaves, whichever is less.
[[nodiscard]] Bytes available_memory();

// Memory that other processes of the node may map. Device memory of both launch models is such
// memory, so that threads and processes compute on the same kind of pages. Unmapped on destruction.
class SharedMapping : boost::noncopyable {
 public:
  // Maps memory without a name, for this process alone.
  [[nodiscard]] static std::unique_ptr<SharedMapping> create(Bytes size);

  // Maps memory in /dev/shm under `name` ("/tandem..."). The mapping is address space only: reserve
  // before any touch. Call unlink once every peer has opened the mapping.
  [[nodiscard]] static std::unique_ptr<SharedMapping> create_named(const std::string& name,
                                                                   Bytes size);
  [[nodiscard]] static std::unique_ptr<SharedMapping> open_named(const std::string& name,
                                                                 Bytes size);
  static void unlink(const std::string& name);

  // Takes the pages of a part, on the calling thread's NUMA node: a full /dev/shm is an
  // out-of-memory error here and not a signal at the first touch.
  void reserve(Bytes first, Bytes count);

  ~SharedMapping();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] Bytes size() const { return size_; }

 private:
  SharedMapping(int descriptor, Bytes size);  // takes the descriptor, also where it throws

  void close_file();

  int descriptor_;  // -1 where nothing is left to reserve
  std::byte* data_ = nullptr;
  Bytes size_;
};

}  // namespace tandem::host
