// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/pretend/pretend_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>

#include "common/base/error.h"
#include "tests/support/errors.h"
#include "tests/support/scratch_folder.h"
#include "tools/tandem/pretend/symbol_check.h"

namespace tandem::cli {
namespace {

using test::ScratchFolder;

std::string usage_error_of(const std::function<void()>& body) {
  const Error error = test::error_of(body);
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  return error.what();
}

constexpr const char* kAnswer =
    "python yes\nfolder /venv/lib/torch\nversion 2.15.0\ncuda 13.2\n"
    "package nvidia-cublas 13.4.1.3\npackage nvidia-cudnn-cu13 9.26.0.51\n"
    "package nvidia-cuda-runtime 13.2.86\npackage nvidia-nccl-cu13 2.30.7\n";

TorchWheel wheel() { return parse_torch_wheel("python3", kAnswer); }

std::string value_of(const std::vector<std::string>& variables, const std::string& name) {
  const auto found = std::ranges::find_if(
      variables, [&](const std::string& variable) { return variable.starts_with(name + "="); });
  return found == variables.end() ? "(not set)" : found->substr(name.size() + 1);
}

TEST(ParseTorchWheel, TakesVersionsAndPlace) {
  EXPECT_EQ(wheel().version, "2.15.0");
  EXPECT_EQ(wheel().folder, "/venv/lib/torch");
  EXPECT_EQ(cuda_major(wheel()), 13);
}

TEST(ParseTorchWheel, RefusesAPythonWithoutTorchAndWhatIsNoPython) {
  EXPECT_EQ(usage_error_of([] { static_cast<void>(parse_torch_wheel("python3", "python yes\n")); }),
            "looking for torch: python3 has none; install one there: python3 -m pip install torch");
  EXPECT_EQ(usage_error_of([] { static_cast<void>(parse_torch_wheel("/bin/ls", "")); }),
            "looking for torch: /bin/ls is no Python that runs; name one with --python");
}

TEST(LibraryVersions, AreWrittenAsTheLibrariesTellThem) {
  EXPECT_EQ(library_versions(wheel()), "runtime=13020,blas=130401,dnn=92600,nccl=23007");
}

TEST(EnvironmentFor, PutsTheLibrariesOfTheWheelsCudaBeforeOthers) {
  const auto variables = environment_for({.gpus = 3, .like = "h100"}, wheel(), "/lib/pretend",
                                         {"PATH=/bin", "LD_PRELOAD=/own.so"});
  const std::string preloaded = value_of(variables, "LD_PRELOAD");
  EXPECT_TRUE(
      preloaded.starts_with("/lib/pretend/libtandem_pretend.so:/lib/pretend/libcudart.so.13:"))
      << preloaded;
  EXPECT_TRUE(preloaded.ends_with(":/own.so")) << preloaded;
  EXPECT_EQ(value_of(variables, "LD_LIBRARY_PATH"), "/lib/pretend");
  EXPECT_EQ(value_of(variables, "TANDEM_PRETEND_GPUS"), "3");
  EXPECT_EQ(value_of(variables, "TANDEM_PRETEND_LIKE"), "h100");
  EXPECT_EQ(value_of(variables, "PATH"), "/bin");
}

TEST(EnvironmentFor, HasNoLogUnlessOneIsAskedFor) {
  const std::vector<std::string> inherited = {"TANDEM_PRETEND_LOG=/old"};
  EXPECT_EQ(value_of(environment_for({}, wheel(), "/lib", inherited), "TANDEM_PRETEND_LOG"),
            "(not set)");
  EXPECT_EQ(
      value_of(environment_for({.log = "/new"}, wheel(), "/lib", inherited), "TANDEM_PRETEND_LOG"),
      "/new");
}

TEST(PretendEnvironment, RefusesImpossibleNumbersAndCards) {
  EXPECT_EQ(usage_error_of([] { static_cast<void>(pretend_environment({.gpus = 65})); }),
            "--gpus=65: use a number from 1 to 64");
  EXPECT_EQ(usage_error_of([] { static_cast<void>(pretend_environment({.like = "v100"})); }),
            "--like=v100: there is no such card; use a100, h100, rtx4090");
}

TEST(PretendEnvironment, RefusesBesideARealGpuUnlessAsked) {
  const ScratchFolder node;
  std::filesystem::create_directories(node / "dev");
  std::ofstream(node / "dev" / "nvidia0") << "";
  const auto refusal = [&](bool beside_gpu) {
    return usage_error_of([&] {
      static_cast<void>(pretend_environment(
          {.root = node.path(), .beside_gpu = beside_gpu, .python = "no-python"}));
    });
  };
  EXPECT_TRUE(refusal(false).starts_with("pretending GPUs: this machine has a real one"))
      << refusal(false);
  EXPECT_EQ(refusal(true).find("real one"), std::string::npos);
}

TEST(CheckWheel, NamesTheMendOfATorchWithoutCuda) {
  TorchWheel without = wheel();
  without.cuda = "";
  EXPECT_EQ(usage_error_of([&] { check_wheel(without); }),
            "pretending GPUs: torch 2.15.0 of python3 is built without CUDA; install the wheel of "
            "the package index there: python3 -m pip install torch");
  without.cuda = "11.8";
  EXPECT_EQ(
      usage_error_of([&] { check_wheel(without); }),
      "pretending GPUs: torch 2.15.0 of python3 is built for CUDA 11.8, and the libraries are "
      "those of CUDA 12 and 13; install a torch for one of them");
}

TEST(MissingSymbols, AreThoseOfReplacedLibrariesThatNobodyExports) {
  const SharedLibrary user{.exported = {},
                           .imported = {{"cudaMalloc", "libcudart.so.13"},
                                        {"cudaNewThing", "libcudart.so.13"},
                                        {"cudaMalloc", "libcudart.so.14"},
                                        {"ncclNewThing", ""},
                                        {"cuNewThing", ""},
                                        {"cuFileRead", ""},
                                        {"malloc", "GLIBC_2.2.5"},
                                        {"cufftPlan1d", "libcufft.so.12"}},
                           .needed = {"libcuda.so.1"}};
  const SharedLibrary runtime{
      .exported = {{"cudaMalloc", "libcudart.so.13"}}, .imported = {}, .needed = {}};
  EXPECT_EQ(
      missing_symbols(user, {runtime}),
      (std::vector<std::string>{"cudaNewThing (libcudart.so.13)", "cudaMalloc (libcudart.so.14)",
                                "ncclNewThing (libnccl.so.2)", "cuNewThing (libcuda.so.1)"}));
}

TEST(MissingSymbols, OfTheDriverAreThoseOfLibrariesThatNameTheDriver) {
  const SharedLibrary user{.exported = {}, .imported = {{"cuInit", ""}}, .needed = {"libc.so.6"}};
  EXPECT_TRUE(missing_symbols(user, {}).empty());
}

TEST(ReadSharedLibrary, FindsVersionsAndNeededLibrariesOfThisProgram) {
  const SharedLibrary self = read_shared_library("/proc/self/exe");
  EXPECT_NE(std::ranges::find(self.needed, "libc.so.6"), self.needed.end());
  const auto versioned = std::ranges::find_if(self.imported, [](const DynamicSymbol& symbol) {
    return symbol.version.starts_with("GLIBC_");
  });
  EXPECT_NE(versioned, self.imported.end());
}

TEST(ReadSharedLibrary, RefusesAnotherFile) {
  const ScratchFolder folder;
  const auto path = folder.path() / "libfoo.so";
  std::ofstream(path) << "no library\n";
  EXPECT_THROW(static_cast<void>(read_shared_library(path)), Error);
  EXPECT_THROW(static_cast<void>(read_shared_library(folder.path() / "absent.so")), Error);
}

TEST(PythonOf, IsTheCommandOrWhatAScriptNames) {
  const ScratchFolder folder;
  const auto script = folder.path() / "torchrun";
  std::ofstream(script) << "#!/usr/bin/env python3\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  EXPECT_EQ(python_of(script.string()), "python3");
  std::ofstream(script) << "#!/venv/bin/python3.12 -B\n";
  EXPECT_EQ(python_of(script.string()), "/venv/bin/python3.12");
  std::ofstream(script) << "#!/bin/sh\n";
  EXPECT_NE(usage_error_of([&] { static_cast<void>(python_of(script.string())); }).find("--python"),
            std::string::npos);
  EXPECT_EQ(usage_error_of([] { static_cast<void>(python_of("no-such-program")); }),
            "running no-such-program: there is no such program; check the command behind --");
}

}  // namespace
}  // namespace tandem::cli
