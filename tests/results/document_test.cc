// SPDX-License-Identifier: Apache-2.0
#include "common/results/document.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/results/files.h"
#include "common/results/machine_facts.h"
#include "tests/results/samples.h"
#include "tests/support/errors.h"
#include "tests/support/scratch_folder.h"

namespace tandem::results {
namespace {

using test::ScratchFolder;

Document sample_document() {
  Document document{.sweep = sample_sweep(), .launches = {}};
  for (int index = 0; index < 2; ++index) {
    LaunchRecord record = full_record();
    record.launch_index = index;
    record.mode = "synchronous";
    record.step_seconds = {0.010, 0.020, 0.060};
    document.launches.push_back(record);
  }
  LaunchRecord failed = full_record();
  failed.cell.strategy = "dp";
  failed.status = Status::kFailed;
  failed.step_seconds.clear();
  document.launches.push_back(failed);
  return document;
}

nlohmann::json written() { return nlohmann::json::parse(to_json_text(sample_document())); }

std::string message_of(const std::string& text) {
  const auto error = capture_error([&] { (void)parse_document(text, "results.json"); });
  return error ? error->what() : "";
}

TEST(Document, Context_HasGoogleBenchmarksFields) {
  const nlohmann::json context = written()["context"];
  for (const char* key : {"date", "host_name", "executable", "num_cpus", "mhz_per_cpu",
                          "cpu_scaling_enabled", "caches", "load_avg", "library_build_type"}) {
    EXPECT_TRUE(context.contains(key)) << key;
  }
  EXPECT_EQ(context["tandem_version"], "0.1.0");
}

TEST(Document, Tandem_IsTheOnlyFurtherKey_AndKeepsFailures) {
  const nlohmann::json json = written();
  EXPECT_EQ(json.size(), 3U);
  EXPECT_EQ(json["tandem"]["schema_version"], "2.0.0");
  EXPECT_EQ(json["tandem"]["launches"].size(), 3U);
  EXPECT_EQ(json["tandem"]["launches"][2]["status"], "failed");
}

TEST(Document, Commands_AreKeptWordByWord) {
  EXPECT_EQ(written()["tandem"]["sweep"]["commands"],
            nlohmann::json::parse(R"([["run","quick","--launches=6"],[]])"));
  const Document document = parse_document(to_json_text(sample_document()), "text");
  EXPECT_EQ(document.sweep.commands, sample_document().sweep.commands);
}

TEST(Document, RoundTrip_KeepsEverything) {
  const Document document = parse_document(to_json_text(sample_document()), "text");
  EXPECT_EQ(to_json_text(document), to_json_text(sample_document()));
}

// Written in pieces: more of them than one part holds.
TEST(Document, Text_IsWhatTheLibraryWouldWrite) {
  const ScratchFolder scratch;
  Document document = sample_document();
  const auto as_the_library = [](const std::string& text) {
    return nlohmann::ordered_json::parse(text).dump(2) + "\n";
  };
  EXPECT_EQ(to_json_text(document), as_the_library(to_json_text(document)));
  for (int index = 2; index < 1000; ++index) {
    document.launches.push_back(document.launches.front());
    document.launches.back().launch_index = index;
  }
  write_document(scratch / "results.json", document);
  const std::string text = read_file(scratch / "results.json");
  EXPECT_GT(text.size(), 2U << 20);
  EXPECT_EQ(text, as_the_library(text));
  EXPECT_EQ(text, to_json_text(document));
  EXPECT_EQ(to_json_text({.sweep = sample_sweep(), .launches = {}}),
            as_the_library(to_json_text({.sweep = sample_sweep(), .launches = {}})));
}

TEST(Document, WhatIsNoFile_IsRefusedAtOnce) {
  const ScratchFolder scratch;
  const std::filesystem::path path = scratch / "results.json";
  ASSERT_EQ(::mkfifo(path.c_str(), S_IRUSR | S_IWUSR), 0);
  EXPECT_THROW((void)read_document(path), Error);
  EXPECT_THROW((void)read_benchmarks(path), Error);
  EXPECT_THROW((void)read_document("/dev/zero"), Error);
  EXPECT_THROW((void)read_document(path.parent_path()), Error);
}

// What a program wrote with --benchmark_out.
std::vector<OtherEntry> sample_others(const ScratchFolder& scratch) {
  const std::filesystem::path file = scratch / "peers.json";
  replace_file(file, R"({"context": {"x": 1}, "benchmarks": [
      {"name": "copy/a", "iterations": 20, "real_time": 2.5, "cpu_time": 9, "time_unit": "us", "GBps": 21.5},
      {"name": "copy/b", "error_occurred": true, "error_message": "skipped: no room"}]})");
  return read_benchmarks(file);
}

TEST(OtherEntries, AreReadWithTheirFigures) {
  const ScratchFolder scratch;
  const std::vector<OtherEntry> others = sample_others(scratch);
  ASSERT_EQ(others.size(), 2U);
  EXPECT_EQ(others[0].source, "peers");
  EXPECT_EQ(others[0].name(), "copy/a");
  EXPECT_EQ(others[0].time_unit(), "us");
  const std::vector<std::pair<std::string, double>> figures{{"real_time", 2.5}, {"GBps", 21.5}};
  EXPECT_EQ(others[0].figures(), figures);
  EXPECT_EQ(others[0].error(), "");
  EXPECT_EQ(others[1].error(), "skipped: no room");
}

TEST(OtherEntries, StandAmongADocumentsBenchmarks_AndComeBack) {
  const ScratchFolder scratch;
  Document document = sample_document();
  document.others = sample_others(scratch);
  const nlohmann::json entries = nlohmann::json::parse(to_json_text(document))["benchmarks"];
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0]["name"], "copy/a");
  EXPECT_EQ(entries[0]["tandem_source"], "peers");
  EXPECT_EQ(parse_document(to_json_text(document), "text").others, document.others);
  EXPECT_EQ(parse_document(to_json_text(document), "text").launches.size(), 3U);
}

TEST(OtherEntries, OfAFileThatIsNone_SaySo) {
  const ScratchFolder scratch;
  const std::filesystem::path file = scratch / "cut.json";
  for (const char* text :
       {R"({"benchmarks": [)", "[1]", R"({"benchmarks": 3})", R"({"benchmarks": [3]})"}) {
    replace_file(file, text);
    SCOPED_TRACE(text);
    const Error error = test::error_of([&] { static_cast<void>(read_benchmarks(file)); });
    EXPECT_NE(std::string_view(error.what()).find("cut.json"), std::string_view::npos);
  }
}

TEST(Document, ALastLookBeforeTheFirst_IsRefused) {
  nlohmann::json json = written();
  nlohmann::json& looks = json["tandem"]["sweep"]["resolving"];
  looks = {{"ratio", 0.03}, {"comparisons", 1}, {"first_round", 4}, {"last_round", 4}};
  EXPECT_EQ(message_of(json.dump()), "");
  looks["last_round"] = 3;
  const std::string message = message_of(json.dump());
  EXPECT_NE(message.find("results.json"), std::string::npos) << message;
  EXPECT_NE(message.find("the last look is before the first"), std::string::npos) << message;
}

TEST(Document, AnotherMajorVersion_IsRefusedInOneLine) {
  nlohmann::json json = written();
  for (const auto& [version, what] :
       {std::pair{"3.0.0", "3.0.0 is newer than 2.0.0, which this program reads; use a newer"},
        {"1.8.0", "1.8.0 is older than 2.0.0, which this program reads; tandem 0.1.0 reads it"}}) {
    json["tandem"]["schema_version"] = version;
    const std::string message = message_of(json.dump());
    EXPECT_NE(message.find(std::string("results.json: its schema version ") + what),
              std::string::npos)
        << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

// A library may sort keys: launches then come before the version that says what they mean.
TEST(Document, AnotherMajorVersion_ComesBeforeWhatItsLaunchesLack) {
  nlohmann::json json = written();
  json["tandem"]["schema_version"] = "3.0.0";
  json["tandem"]["launches"][0].erase("cell");
  EXPECT_NE(message_of(json.dump()).find("3.0.0 is newer"), std::string::npos);
  json["tandem"]["schema_version"] = "2.0.0";
  EXPECT_NE(message_of(json.dump()).find("'cell' is missing"), std::string::npos);
  EXPECT_NE(message_of(json.dump() + "x").find("not valid JSON"), std::string::npos);
}

// More than one part of it is in memory.
TEST(Document, LongFile_IsReadWhole) {
  const ScratchFolder scratch;
  Document document = sample_document();
  for (int index = 2; index < 1000; ++index) {
    document.launches.push_back(document.launches.front());
    document.launches.back().launch_index = index;
  }
  document.launches[500].stderr_tail.assign(3U << 20, '"');
  write_document(scratch / "results.json", document);
  EXPECT_EQ(to_json_text(read_document(scratch / "results.json")), to_json_text(document));
}

TEST(Document, NewerMinorVersion_WithUnknownFields_IsRead) {
  nlohmann::json json = written();
  json["tandem"]["schema_version"] = "2.9.0";
  json["tandem"]["launches"][0]["invented_later"] = {1, 2, 3};
  EXPECT_EQ(message_of(json.dump()), "");
}

TEST(Document, ForeignOrDamagedText_SaysSo) {
  EXPECT_NE(message_of(R"({"context": {}, "benchmarks": []})").find("no key 'tandem'"),
            std::string::npos);
  EXPECT_NE(message_of("[1").find("not valid JSON"), std::string::npos);
  EXPECT_NE(message_of("[1]"), "");
  EXPECT_NE(message_of(R"({"tandem": {"schema_version": "2.0.0", "launches": [3]}})"), "");
}

TEST(MachineFacts, AreThere_AndTheEnvironmentIsNot) {
  ::setenv("TANDEM_TEST_SECRET", "secret", 1);
  const std::vector<std::string> named{"CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS",
                                       "OPENBLAS_CORETYPE", "DNNL_MAX_CPU_ISA"};
  for (const std::string& name : named) ::setenv(name.c_str(), "3", 1);
  const MachineFacts facts = gather_machine_facts();
  EXPECT_FALSE(facts.cpu_model.empty());
  EXPECT_GE(facts.cores, 1);
  EXPECT_GT(facts.memory_bytes, 0);
  EXPECT_FALSE(facts.libraries.at("compiler").empty());
  EXPECT_NE(facts.libraries.at("tandem").find("commit"), std::string::npos);
  EXPECT_FALSE(facts.variables.contains("TANDEM_TEST_SECRET"));
  for (const std::string& name : named) EXPECT_TRUE(facts.variables.contains(name)) << name;
}

TEST(NamedVariables, AreThoseThatChangeFigures_WithoutSecrets) {
  const char* const environment[] = {
      "NCCL_DEBUG=INFO",
      "OMPI_MCA_btl=tcp,self",
      "OMPI_MCA_orte_precondition_transports=6af35d0eb97fd936-60a738b162d7e6f3",
      "OMPI_MCA_ess_base_jobid=1380646913",
      "OMP_PLACES=cores",
      "CUDA_VISIBLE_DEVICES=GPU-8932f937-d72c-4106-c12f-20bd9faed9f6",
      "CUDA_API_TOKEN=abc",
      "NCCL_PROXY=http://me:word@host",
      "NCCL_ID=Zm9vYmFyYmF6MTIzNDU2Nzg5",
      "HOME=/root",
      "AWS_SECRET_ACCESS_KEY=x",
      "NCCL_NET_PLUGIN",
      nullptr};
  const std::map<std::string, std::string> wanted{
      {"NCCL_DEBUG", "INFO"},
      {"OMPI_MCA_btl", "tcp,self"},
      {"OMP_PLACES", "cores"},
      {"CUDA_VISIBLE_DEVICES", "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"},
      {"CUDA_API_TOKEN", "(redacted)"},
      {"NCCL_PROXY", "(redacted)"},
      {"NCCL_ID", "(redacted)"}};
  EXPECT_EQ(named_variables(environment), wanted);
}

TEST(NamedVariables, AreNotWhatALaunchBrings) {
  const char* const environment[] = {
      "OMPI_COMM_WORLD_SIZE=2",
      "OMPI_FIRST_RANKS=0",
      "PMIX_RANK=0",
      "OMPI_MCA_pmix=^s1,s2,cray,isolated",
      "OMPI_MCA_initial_wdir=/home/me",
      "OMPI_MCA_mpi_oversubscribe=0",
      "OMPI_MCA_shmem_RUNTIME_QUERY_hint=mmap",
      "OMPI_MCA_btl=vader,self",
      "OMPI_MCA_btl_vader_backing_directory=/dev/shm/tandem.1.abcdef",
      "OMPI_MCA_hwloc_base_binding_policy=none",
      "OMPI_MCA_rmaps_base_mapping_policy=slot",
      "OMPI_MCA_rmaps_base_oversubscribe=1",
      "OMPI_MCA_oob_tcp_keepalive_time=5",
      "OMPI_MCA_coll_tuned_use_dynamic_rules=1",
      nullptr};
  const std::map<std::string, std::string> wanted{{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"}};
  EXPECT_EQ(named_variables(environment), wanted);
}

TEST(NamedVariables, WithTheShapeOfAKey_AreRedacted) {
  for (const char* value :
       {"AKIAIOSFODNN7EXAMPLE", "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "net,sk-proj-abcdefghijklmnopqrstuvwx;", "key=eyJhbGciOiJIUzI1NiJ9.e30"}) {
    EXPECT_TRUE(looks_secret("NCCL_NET", value)) << value;
  }
  for (const char* value : {"Socket", "AKIA", "IBext_sk-", "/dev/disk-by-path-pci-0000-00-1f",
                            "mlx5_0:1,mlx5_1:1", "FASTEST_FIRST"}) {
    EXPECT_FALSE(looks_secret("NCCL_NET", value)) << value;
  }
}

TEST(JobPlace, IsToldByFilesAndVariables) {
  const ScratchFolder root;
  EXPECT_EQ(count_numa_nodes(root / ""), 0);
  EXPECT_EQ(huge_pages(root / ""), "");
  for (const char* node : {"node0", "node1"}) {
    std::filesystem::create_directories(root / "sys/devices/system/node" / node);
  }
  std::filesystem::create_directories(root / "sys/kernel/mm/transparent_hugepage");
  replace_file(root / "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  replace_file(root / ".dockerenv", "");
  EXPECT_EQ(count_numa_nodes(root / ""), 2);
  EXPECT_EQ(huge_pages(root / ""), "madvise");
  EXPECT_EQ(container(root / ""), "docker");
  ::setenv("SLURM_JOB_ID", "4711", 1);
  ::setenv("SLURM_JOB_NUM_NODES", "2", 1);
  EXPECT_EQ(slurm_job(), "4711, 2 nodes");
  ::unsetenv("SLURM_JOB_ID");
  EXPECT_EQ(slurm_job(), "");
}

}  // namespace
}  // namespace tandem::results
