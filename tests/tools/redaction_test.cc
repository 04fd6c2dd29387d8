// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/report/redaction.h"

#include <gtest/gtest.h>

#include <string>

namespace tandem::cli {
namespace {

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
  const std::string sent = redacted(document_of_a_node());
  for (const char* secret : {"gpu-7", "4711", "10.0.0.12", "/opt/me", "0123456789abcdef"}) {
    EXPECT_EQ(sent.find(secret), std::string::npos) << secret;
  }
  const results::Document read = results::parse_document(sent, "sent");
  const results::LaunchRecord& record = read.launches.at(0);
  EXPECT_EQ(record.machine.host_name, "host1");
  EXPECT_EQ(record.machine.hosts, (std::vector<std::string>{"host1", "host2"}));
  EXPECT_EQ(record.warnings[0], "[removed]");
  EXPECT_EQ(record.gpus[0].hardware, "00000000:10:00.0");
  EXPECT_EQ(record.machine.libraries.at("cuBLAS"), "13.1.0.3");
  EXPECT_EQ(read.sweep.name, "node");
  EXPECT_EQ(read.sweep.context.host_name, "host1");
  EXPECT_TRUE(read.sweep.commands.empty());
  EXPECT_TRUE(is_redacted(read));
}

TEST(Redaction, OfVariables_TakesPaths) {
  results::Document document = document_of_a_node();
  document.launches[0].machine.variables = {{"CUDA_CACHE_PATH", "/scratch/alice"}};
  const results::Document read = results::parse_document(redacted(document), "sent");
  EXPECT_EQ(read.launches[0].machine.variables.at("CUDA_CACHE_PATH"), "[removed]");
}

TEST(Redaction, OfADefinition_LeavesNothing) {
  results::Document document = document_of_a_node();
  document.sweep.definition = R"({"hosts": "alice"})";
  EXPECT_EQ(redacted(document).find("alice"), std::string::npos);
}

TEST(Redaction, OfTheGpusThatACellNames_LeavesNoSerial) {
  results::Document document = document_of_a_node();
  document.launches[0].cell.options["gpus"] = "GPU-8932f937,1";
  document.sweep.dropped = {{.reason = "alice/x", .cells = {"ddp/m/gpus:GPU-8932f937/seed:1"}}};
  const results::Document read = results::parse_document(redacted(document), "sent");
  EXPECT_EQ(read.launches[0].cell.options.at("gpus"), "[removed]");
  EXPECT_EQ(read.sweep.dropped[0].cells[0], "ddp/m/gpus:[removed]/seed:1");
  EXPECT_EQ(read.sweep.dropped[0].reason, "[removed]");
}

TEST(Redaction, OfOtherEntries_KeepsFiguresAndNames) {
  results::Document document = document_of_a_node();
  document.others = {{.source = "proof",
                      .json = R"({"name": "copy/to:cuda:0", "real_time": 2.5, "error_message": )"
                              R"("no /home/me", "extra": {"a": "me"}, "tandem_source": "proof"})"}};
  const results::Document read = results::parse_document(redacted(document), "sent");
  EXPECT_EQ(read.others.at(0).name(), "copy/to:cuda:0");
  EXPECT_EQ(read.others.at(0).figures().size(), 1U);
  EXPECT_EQ(read.others.at(0).error(), "[removed]");
  EXPECT_EQ(read.others.at(0).json.find("\"me\""), std::string::npos);
}

}  // namespace
}  // namespace tandem::cli
