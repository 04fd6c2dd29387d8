// SPDX-License-Identifier: Apache-2.0
//
// The back ends that the contract suite runs on.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "common/runtime/host/host_platform.h"
#include "common/runtime/host/host_stream.h"
#include "common/runtime/platform.h"
#include "common/runtime/registry.h"

namespace tandem::testing {

struct HostBackend {
  static constexpr bool kRunsOwnWork = true;

  static std::unique_ptr<Platform> open(const PlatformOptions& options, std::string&) {
    return host::make_host_platform(options);
  }
  static void enqueue(Stream& stream, std::function<void()> body) {
    host::host_stream(stream).enqueue({"a test's work", {}, std::move(body)});
  }
};

// Real GPUs, through the module as programs load it. Tests link no CUDA, so they have no way to
// queue work of their own: on this back end only what copies can show is checked.
struct CudaBackend {
  static constexpr bool kRunsOwnWork = false;

  static std::unique_ptr<Platform> open(const PlatformOptions& options, std::string& unusable) {
    const BackendFacts facts = probe_backends(BackendChoice::kCuda, options);
    if (facts.cuda.state == CudaState::kUsable) return open_platform(Backend::kCuda, options);
    unusable = facts.cuda.detail;
    return nullptr;
  }
  static void enqueue(Stream&, std::function<void()>) {
    fail(ErrorKind::kLogic, "tests cannot queue work of their own on CUDA");
  }
};

}  // namespace tandem::testing
