// SPDX-License-Identifier: Apache-2.0
#include "common/results/journal.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "common/base/error.h"
#include "common/results/files.h"
#include "common/results/launch_record.h"
#include "tests/results/samples.h"
#include "tests/support/errors.h"
#include "tests/support/scratch_folder.h"

namespace tandem::results {
namespace {

using test::ScratchFolder;

LaunchRecord launch(int index) {
  LaunchRecord record = full_record();
  record.launch_index = index;
  return record;
}

void append_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::app) << text;
}

TEST(Journal, AbsentFile_HoldsNothing) {
  const ScratchFolder folder;
  EXPECT_FALSE(read_journal(folder / "journal.jsonl"));
}

// Nor is it waited for until somebody reads or writes it.
TEST(Journal, Pipe_IsNeitherReadNorWritten) {
  const ScratchFolder scratch;
  const std::filesystem::path path = scratch / "journal.jsonl";
  ASSERT_EQ(::mkfifo(path.c_str(), S_IRUSR | S_IWUSR), 0);
  for (const bool writes : {false, true}) {
    const Error error = test::error_of([&] {
      if (writes) {
        const Journal journal(path, {});
      } else {
        (void)read_journal(path);
      }
    });
    EXPECT_NE(std::string(error.what()).find("journal.jsonl: it is a pipe"), std::string::npos);
  }
}

TEST(Journal, AppendedLaunches_AreFoundAgain) {
  const ScratchFolder folder;
  {
    Journal journal(folder / "journal.jsonl", sample_sweep());
    journal.append(launch(0));
    journal.append(launch(1));
  }
  const Journal again(folder / "journal.jsonl", sample_sweep());
  ASSERT_EQ(again.contents().launches.size(), 2U);
  EXPECT_EQ(again.contents().launches[1].launch_index, 1);
  EXPECT_EQ(again.contents().sweep.definition, sample_sweep().definition);
  EXPECT_EQ(again.contents().sweep.context.custom, sample_sweep().context.custom);
}

// What `tandem run` reports from is what a later reader would.
TEST(Journal, Contents_AreThoseOfItsFile) {
  const ScratchFolder folder;
  { Journal(folder / "journal.jsonl", sample_sweep()).append(launch(0)); }
  Journal journal(folder / "journal.jsonl", sample_sweep());
  LaunchRecord failed = launch(1);
  failed.status = Status::kFailed;
  failed.step_seconds.clear();
  failed.stderr_tail = "bad \xff byte";
  journal.append(failed);
  journal.append(launch(2));
  journal.append(launch(0));
  const auto read = read_journal(folder / "journal.jsonl");
  const JournalContents contents = journal.take_contents();
  EXPECT_EQ(contents.whole_bytes, read->whole_bytes);
  ASSERT_EQ(contents.launches.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(to_json_line(contents.launches[i]), to_json_line(read->launches.at(i)));
    EXPECT_EQ(contents.launches[i].stderr_tail, read->launches.at(i).stderr_tail);
  }
}

TEST(Journal, TornLastLine_IsDroppedAndOverwritten) {
  const ScratchFolder folder;
  { Journal(folder / "journal.jsonl", sample_sweep()).append(launch(0)); }
  append_text(folder / "journal.jsonl", R"({"cell": {"strat)");
  {
    Journal journal(folder / "journal.jsonl", sample_sweep());
    EXPECT_EQ(journal.contents().launches.size(), 1U);
    journal.append(launch(1));
  }
  EXPECT_EQ(read_journal(folder / "journal.jsonl")->launches.size(), 2U);
}

TEST(Journal, TornFirstLine_BeginsAnew) {
  const ScratchFolder folder;
  append_text(folder / "journal.jsonl", R"({"tandem_jour)");
  { Journal(folder / "journal.jsonl", sample_sweep()).append(launch(0)); }
  EXPECT_EQ(read_journal(folder / "journal.jsonl")->launches.size(), 1U);
}

TEST(Journal, DamageBeforeTheLastLine_IsAnError) {
  const ScratchFolder folder;
  { Journal(folder / "journal.jsonl", sample_sweep()).append(launch(0)); }
  append_text(folder / "journal.jsonl", "damage\n");
  const Error error = test::error_of([&] { (void)read_journal(folder / "journal.jsonl"); });
  EXPECT_NE(std::string_view(error.what()).find("journal.jsonl, line 3"), std::string_view::npos);
}

TEST(Journal, SamePairTwice_TheLaterCounts) {
  const ScratchFolder folder;
  {
    Journal journal(folder / "journal.jsonl", sample_sweep());
    LaunchRecord failed = launch(0);
    failed.status = Status::kFailed;
    failed.step_seconds.clear();
    journal.append(failed);
    journal.append(launch(0));
  }
  const auto contents = read_journal(folder / "journal.jsonl");
  ASSERT_EQ(contents->launches.size(), 1U);
  EXPECT_EQ(contents->launches[0].status, Status::kOk);
}

// Line by line, as a long run leaves them: 10,000 cells, the first 100 of which failed before.
TEST(Journal, OfTenThousandCells_HoldsEachOnce) {
  const ScratchFolder folder;
  { const Journal begun(folder / "journal.jsonl", sample_sweep()); }
  std::string lines;
  LaunchRecord record;
  record.cell.model = "mlp-tiny";
  const auto add = [&](int batch, Status status) {
    record.cell.global_batch = batch;
    record.status = status;
    record.step_seconds.assign(status == Status::kOk ? 1 : 0, 1e-3 * batch);
    lines += to_json_line(record) + "\n";
  };
  for (int batch = 1; batch <= 100; ++batch) add(batch, Status::kFailed);
  for (int batch = 1; batch <= 10'000; ++batch) add(batch, Status::kOk);
  append_text(folder / "journal.jsonl", lines);
  const Journal journal(folder / "journal.jsonl", sample_sweep());
  const std::vector<LaunchRecord>& launches = journal.contents().launches;
  ASSERT_EQ(launches.size(), 10'000U);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    ASSERT_EQ(launches[i].cell.global_batch, static_cast<std::int64_t>(i) + 1);
    ASSERT_EQ(launches[i].status, Status::kOk);
  }
}

TEST(Journal, SecondWriter_IsRefused) {
  const ScratchFolder folder;
  const Journal first(folder / "journal.jsonl", sample_sweep());
  EXPECT_THROW(Journal(folder / "journal.jsonl", sample_sweep()), Error);
}

TEST(Journal, PlannedCells_AreInItsFirstLine_AndLaunchesStay) {
  const ScratchFolder folder;
  { Journal(folder / "journal.jsonl", sample_sweep()).append(launch(0)); }
  {
    Journal journal(folder / "journal.jsonl", sample_sweep());
    journal.plan({{.cells = {"a", "b"}, .launches_per_cell = 4}});
    journal.append(launch(1));
    EXPECT_THROW(Journal(folder / "journal.jsonl", sample_sweep()), Error);  // still locked
  }
  const auto contents = read_journal(folder / "journal.jsonl");
  EXPECT_EQ(contents->launches.size(), 2U);
  EXPECT_EQ(contents->sweep.definition, sample_sweep().definition);
  ASSERT_EQ(contents->sweep.additions.size(), 1U);
  EXPECT_EQ(contents->sweep.additions[0].cells, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(contents->sweep.additions[0].launches_per_cell, 4);
}

TEST(Journal, Looks_AreInItsFirstLine_AndLaunchesStay) {
  const ScratchFolder folder;
  const Resolving looks{.ratio = 0.03, .comparisons = 2, .first_round = 4, .last_round = 24};
  { Journal(folder / "journal.jsonl", sample_sweep()).append(launch(0)); }
  {
    Journal journal(folder / "journal.jsonl", sample_sweep());
    EXPECT_FALSE(journal.contents().sweep.resolving);
    journal.note_looks(looks);
    journal.append(launch(1));
  }
  const auto contents = read_journal(folder / "journal.jsonl");
  EXPECT_EQ(contents->launches.size(), 2U);
  EXPECT_EQ(contents->sweep.resolving, looks);
}

TEST(Journal, PutBack_LeavesItAsItWas) {
  const ScratchFolder folder;
  { Journal(folder / "journal.jsonl", sample_sweep()).append(launch(0)); }
  const std::string before = read_file(folder / "journal.jsonl");
  for (const bool plans : {false, true}) {
    Journal journal(folder / "journal.jsonl", sample_sweep());
    if (plans) journal.plan({});
    journal.append(launch(1));
    journal.put_back();
    EXPECT_EQ(read_file(folder / "journal.jsonl"), before);
  }
}

TEST(Journal, AnotherMajorVersion_IsRefused) {
  for (const char* const version : {"1.8.0", "3.0.0"}) {
    const ScratchFolder folder;
    append_text(folder / "journal.jsonl",
                std::string(R"({"tandem_journal": ")") + version + "\"}\n");
    EXPECT_THROW((void)read_journal(folder / "journal.jsonl"), Error) << version;
  }
}

}  // namespace
}  // namespace tandem::results
