// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/report/redaction.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace tandem::cli {
namespace {

std::string redacted_text(std::string_view text, Removed& removed) {
  return without_folders_and_serials(text, removed);
}

TEST(Redaction, OfPaths_KeepsFiles_AndNothingElseWithSlashes) {
  Removed removed;
  EXPECT_EQ(redacted_text(R"(--module=/home/me/own.py:build "/data/x" at\n/root/a, /tmp)", removed),
            R"(--module=[folder]/own.py:build "[folder]" at\n[folder], [folder])");
  EXPECT_EQ(removed.at("folder"), 4);
  const std::string_view kept =
      R"("dp/threads/mlp-small/devices:2/batch:64" 1.5 GB/s https://a.org/b and / or)";
  EXPECT_EQ(redacted_text(kept, removed), kept);
}

TEST(Redaction, OfPaths_KnowsThemBehindAnyMark_AndRelativeOnesByTheirFile) {
  for (const char* path :
       {"file:///home/alice/x", "-I/home/alice/inc", "`/home/alice/x`", "|/home/alice/x",
        "../alice/own.py", "~/alice/own.py", "~alice/x", "proj/alice/own.py", "m=proj/alice/own.py",
        "/usr/lib/alice/libnccl.so.2", "/home/alice", "/home/alice.doe",
        "/home/my dir/alice/own.py"}) {
    Removed removed;
    const std::string kept = redacted_text(path, removed);
    EXPECT_EQ(kept.find("alice"), std::string::npos) << kept;
    EXPECT_GE(removed["folder"], 1) << path;
  }
  Removed removed;
  EXPECT_EQ(redacted_text("in `/usr/lib/libnccl.so.2` -I/opt/inc", removed),
            "in `[folder]/libnccl.so.2` -I[folder]");
  EXPECT_EQ(redacted_text("see https://a.org/x.py, [folder]/own.py", removed),
            "see https://a.org/x.py, [folder]/own.py");
}

TEST(Redaction, OfSerials_TakesUuids_AndKeepsPciAddresses) {
  Removed removed;
  EXPECT_EQ(redacted_text("00000000:10:00.0 GPU-0123456789abcdef0123456789abcdef", removed),
            "00000000:10:00.0 [serial]");
  EXPECT_EQ(redacted_text("MIG-5c89852c-d268-5d71-8ef6-8f0c8a8c4f2b/1", removed), "[serial]/1");
  EXPECT_EQ(redacted_text("GPU-based, the GPU-cafe", removed), "GPU-based, the GPU-cafe");
  EXPECT_EQ(removed.at("serial"), 2);
}

results::Document document_of_a_node() {
  results::LaunchRecord record;
  record.cell.strategy = "ddp";
  record.cell.launch = "processes";
  record.cell.model = "mlp-small";
  record.cell.backend = "cuda";
  record.cell.devices = 2;
  record.cell.global_batch = 64;
  record.step_seconds = {0.1, 0.1};
  record.machine.host_name = "gpu-7";
  record.machine.hosts = {"gpu-7", "gpu-8"};
  record.machine.slurm_job = "4711, step 0, partition gpu, 2 nodes";
  record.machine.libraries["cuBLAS"] = "13.1.0.3";
  record.warnings = {"gpu-8 is late; gpu-80 is not known", "no answer of 10.0.0.12"};
  record.gpus.emplace_back().hardware = "00000000:10:00.0 GPU-0123456789abcdef";
  results::Document document;
  document.sweep.name = "node";
  document.sweep.definition = "{}";
  document.sweep.context.host_name = "gpu-7";
  document.sweep.context.executable = "/opt/me/bin/tandem";
  document.sweep.commands = {{"run", "node", "--hosts=gpu-7:8,gpu-8:8"}};
  document.launches.push_back(record);
  return document;
}

TEST(Redaction, OfADocument_IsReadAgain_WithoutWhoseItIs) {
  const Redacted sent = redacted(document_of_a_node());
  for (const char* secret : {"gpu-7", "4711", "10.0.0.12", "/opt/me", "0123456789abcdef"}) {
    EXPECT_EQ(sent.text.find(secret), std::string::npos) << secret;
  }
  const results::Document read = results::parse_document(sent.text, "sent");
  const results::LaunchRecord& record = read.launches.at(0);
  EXPECT_EQ(record.machine.host_name, "host1");
  EXPECT_EQ(record.machine.hosts, (std::vector<std::string>{"host1", "host2"}));
  EXPECT_EQ(record.warnings[0], "host2 is late; gpu-80 is not known");
  EXPECT_EQ(record.warnings[1], "no answer of [address]");
  EXPECT_EQ(record.machine.libraries.at("cuBLAS"), "13.1.0.3");
  EXPECT_EQ(read.sweep.name, "node");
  EXPECT_EQ(read.sweep.commands[0][2], "--hosts=host1:8,host2:8");
  EXPECT_EQ(read.sweep.context.custom.at(kRemovedFact), words_of(sent.removed));
  EXPECT_NE(words_of(sent.removed).find("1 Slurm job"), std::string::npos);
}

TEST(Redaction, OfWhatARunWasHeldAgainst_TakesFoldersWithBlanks) {
  results::Document document = document_of_a_node();
  document.sweep.against =
      results::Against{.run = "5f0e",
                       .build = "/home/me/old build",
                       .variables = {"NCCL_TOPO_FILE=/home/me/my node/t.xml", "NCCL_ALGO=Ring"}};
  const Redacted sent = redacted(document);
  const results::Against read = results::parse_document(sent.text, "sent").sweep.against.value();
  EXPECT_EQ(read.build, "[folder]");
  EXPECT_EQ(read.variables[0], "NCCL_TOPO_FILE=[folder]/t.xml");
  EXPECT_EQ(read.variables[1], "NCCL_ALGO=Ring");
  EXPECT_EQ(sent.text.find("my node"), std::string::npos);
}

// The command and the warning of a document, redacted.
std::pair<std::string, std::string> redacted_words(results::Document document, std::string word,
                                                   std::string warning) {
  document.sweep.commands = {{"run", "node", std::move(word)}};
  document.launches[0].warnings = {std::move(warning)};
  const results::Document read = results::parse_document(redacted(document).text, "sent");
  return {read.sweep.commands[0][2], read.launches[0].warnings[0]};
}

results::Document document_on(const std::string& host) {
  results::Document document = document_of_a_node();
  document.sweep.context.host_name = document.launches[0].machine.host_name = host;
  document.launches[0].machine.hosts = {};
  return document;
}

using Words = std::pair<std::string, std::string>;

TEST(Redaction, OfHosts_TakesNamesWithTheirDomains_AndShortOnes) {
  EXPECT_EQ(redacted_words(document_on("gpu-7.cluster.example.edu"), "--hosts=gpu-7:8",
                           "[gpu-7:123] gpu-7.cluster.example.edu. Late"),
            Words("--hosts=host1:8", "[host1:123] host1. Late"));
  EXPECT_EQ(redacted_words(document_on("gpu-7"), "--hosts=gpu-7.cluster.example.edu:8", "\ngpu-7"),
            Words("--hosts=host1:8", "\nhost1"));
  // An alias, and a host that no launch reported.
  EXPECT_EQ(redacted_words(document_on("gpu-7"), "--hosts=alias:8,gpu-9.example.edu:8", "no gpu-9"),
            Words("--hosts=host2:8,host3:8", "no host3"));
}

TEST(Redaction, OfAddresses_TakesLongOnes_AndKeepsTimesAndPciAddresses) {
  EXPECT_EQ(redacted_words(document_on("gpu-7"), "--hosts=[fe80::1]:8,localhost:8",
                           "eth0:fe80::ec4:7aff:fe27:7924%eth0<0>, ::1, ::ffff:10.0.0.1, "
                           "2001:db8:0:0:0:0:0:1"),
            Words("--hosts=[[address]]:8,localhost:8",
                  "eth0:[address]<0>, [address], [address], [address]"));
  const std::string kept = "at 12:30:45 on 00000000:10:00.0: c10::Error, std::add, 1:2";
  EXPECT_EQ(redacted_words(document_on("gpu-7"), "x", kept).second, kept);
}

TEST(Redaction, OfWordsAndVariables_TakesWholePaths) {
  results::Document document = document_on("gpu-7");
  document.launches[0].machine.variables = {{"CUDA_CACHE_PATH", "/scratch/alice"},
                                            {"CUDA_VISIBLE_DEVICES", "0,1"}};
  EXPECT_EQ(redacted_words(document, "--module=/home/alice/my model/own.py:build", "none").first,
            "--module=[folder]/own.py:build");
  EXPECT_EQ(redacted_words(document, "--torch=proj/alice", "none").first, "--torch=[folder]");
  const auto read = results::parse_document(redacted(document).text, "sent");
  EXPECT_EQ(read.launches[0].machine.variables.at("CUDA_CACHE_PATH"), "[folder]");
  EXPECT_EQ(read.launches[0].machine.variables.at("CUDA_VISIBLE_DEVICES"), "0,1");
}

TEST(Redaction, OfJobs_TakesTheirNumberAlsoInTexts) {
  results::Document document = document_on("gpu-7");
  document.launches[0].stderr_tail = "STEP 4711.0 ON gpu-7 CANCELLED, slurm-4711.out, 47110";
  const auto read = results::parse_document(redacted(document).text, "sent");
  EXPECT_EQ(read.launches[0].stderr_tail,
            "STEP [job].0 ON host1 CANCELLED, slurm-[job].out, 47110");
}

}  // namespace
}  // namespace tandem::cli
