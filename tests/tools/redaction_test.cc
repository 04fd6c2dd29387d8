// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/report/redaction.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace tandem::cli {
namespace {

// The text without what is not known to be harmless.
std::string harmless(std::string_view text) {
  Removed removed;
  return harmless_words(text, {"node", "4711"}, removed);
}

TEST(Redaction, OfTexts_KeepsWordsAndNumbers) {
  for (const char* kept :
       {"late: it takes about 35 s, and the 6.2 minutes end in 16 s", "use --devices=2 (fewer).",
        "CUDA_ERROR_OUT_OF_MEMORY: 80GiB, 95% of 500ms", "NCCL_ALGO=Ring, CUDA 13.0.2, 2.28.3-1",
        "at 12:30:45 on 00000000:10:00.0", ""}) {
    EXPECT_EQ(harmless(kept), kept);
  }
}

TEST(Redaction, OfTexts_TakesAllElse) {
  for (const char* secret :
       {"/home/me/own.py", "proj/alice", "~me", "gpu-7", "gpu7.example.edu", "a.b", "10.0.0.12",
        "ec4f", "2001:db8", "GPU-0123456789abcdef", "5c89852c-d268-5d71", "94cdbc3507563abf",
        "me@there", "slurm-4711.out", "node", "node.", "4711", "0123456789abcdef"}) {
    EXPECT_NE(harmless(secret).find("[removed]"), std::string::npos) << secret;
    EXPECT_EQ(harmless(std::string("no ") + secret + ", 2").find(secret), std::string::npos);
  }
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
  record.gpus[0].pci = "00000000:10:00.0";
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
  EXPECT_EQ(record.warnings[0], "[removed] is late; [removed] is not known");
  EXPECT_EQ(record.warnings[1], "no answer of [removed]");
  EXPECT_EQ(record.gpus[0].hardware, "00000000:10:00.0");
  EXPECT_EQ(record.machine.libraries.at("cuBLAS"), "13.1.0.3");
  EXPECT_EQ(read.sweep.name, "node");
  EXPECT_EQ(read.sweep.commands[0][2], "--hosts=[removed]:8,[removed]:8");
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
  EXPECT_EQ(read.build, "[removed]");
  EXPECT_EQ(read.variables[0], "NCCL_TOPO_FILE=[removed]");
  EXPECT_EQ(read.variables[1], "NCCL_ALGO=Ring");
  EXPECT_EQ(sent.text.find("my node"), std::string::npos);
}

TEST(Redaction, OfWordsAndVariables_TakesWholePaths) {
  results::Document document = document_of_a_node();
  document.sweep.commands = {{"run", "--module=/home/alice/my model/own.py:build", "--launches=6"}};
  document.launches[0].machine.variables = {{"CUDA_CACHE_PATH", "/scratch/alice"},
                                            {"CUDA_VISIBLE_DEVICES", "0,1"}};
  const results::Document read = results::parse_document(redacted(document).text, "sent");
  EXPECT_EQ(read.sweep.commands[0],
            (std::vector<std::string>{"run", "--module=[removed]", "--launches=6"}));
  EXPECT_EQ(read.launches[0].machine.variables.at("CUDA_CACHE_PATH"), "[removed]");
  EXPECT_EQ(read.launches[0].machine.variables.at("CUDA_VISIBLE_DEVICES"), "0,1");
}

TEST(Redaction, OfADefinition_LeavesNothing) {
  results::Document document = document_of_a_node();
  document.sweep.definition = R"({"hosts": "alice"})";
  EXPECT_EQ(redacted(document).text.find("alice"), std::string::npos);
}

TEST(Redaction, OfTheGpusThatACellNames_LeavesNoSerial) {
  results::Document document = document_of_a_node();
  document.launches[0].cell.options["gpus"] = "GPU-8932f937,1";
  document.sweep.dropped = {{.reason = "alice/x", .cells = {"ddp/m/gpus:GPU-8932f937/seed:1"}}};
  const results::Document read = results::parse_document(redacted(document).text, "sent");
  EXPECT_EQ(read.launches[0].cell.options.at("gpus"), "[removed],1");
  EXPECT_EQ(read.sweep.dropped[0].cells[0], "ddp/m/gpus:[removed]/seed:1");
  EXPECT_EQ(read.sweep.dropped[0].reason, "[removed]");
}

TEST(Redaction, OfOtherEntries_KeepsFiguresAndNames) {
  results::Document document = document_of_a_node();
  document.others = {{.source = "proof",
                      .json = R"({"name": "copy/to:cuda:0", "real_time": 2.5, "error_message": )"
                              R"("no /home/me", "extra": {"a": "me"}, "tandem_source": "proof"})"}};
  const results::Document read = results::parse_document(redacted(document).text, "sent");
  EXPECT_EQ(read.others.at(0).name(), "copy/to:cuda:0");
  EXPECT_EQ(read.others.at(0).figures().size(), 1U);
  EXPECT_EQ(read.others.at(0).error(), "no [removed]");
  EXPECT_EQ(read.others.at(0).json.find("\"me\""), std::string::npos);
}

}  // namespace
}  // namespace tandem::cli
