// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/report/redaction.h"

#include <gtest/gtest.h>

#include <string>

namespace tandem::cli {
namespace {

std::string redacted_text(std::string_view text, Removed& removed) {
  return without_folders_and_serials(text, removed);
}

TEST(Redaction, OfPaths_KeepsTheirLastPart_AndNothingElseWithSlashes) {
  Removed removed;
  EXPECT_EQ(redacted_text(R"(--module=/home/me/own.py:build "/data/x" at\n/root/a, /tmp)", removed),
            R"(--module=[folder]/own.py:build "[folder]/x" at\n[folder]/a, [folder])");
  EXPECT_EQ(removed.at("folder"), 4);
  const std::string_view kept =
      R"("dp/threads/mlp-small/devices:2/batch:64" 1.5 GB/s https://a.org/b and / or)";
  EXPECT_EQ(redacted_text(kept, removed), kept);
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
  record.cell = {.strategy = "ddp",
                 .launch = "processes",
                 .model = "mlp-small",
                 .backend = "cuda",
                 .devices = 2,
                 .global_batch = 64};
  record.step_seconds = {0.1, 0.1};
  record.machine.host_name = "gpu-7";
  record.machine.hosts = {"gpu-7", "gpu-8"};
  record.machine.slurm_job = "4711, step 0, partition gpu, 2 nodes";
  record.machine.libraries["cuBLAS"] = "13.1.0.3";
  record.warnings = {"gpu-8 is late; gpu-80 is not known", "no answer of 10.0.0.12"};
  record.gpus.push_back({.device = 0, .hardware = "00000000:10:00.0 GPU-0123456789abcdef"});
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

}  // namespace
}  // namespace tandem::cli
