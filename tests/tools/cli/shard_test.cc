// Tests of --shard: what the parts of a file give is, one behind the other, what the whole gives.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/paths.h"
#include "tests/sanitizers.h"
#include "tests/tools/programs.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;

constexpr char kFast[] = " --compute_type=float32 --beam_size=1 ";

// Lines of all kinds: empty ones, line ends of both kinds, bytes that are no UTF-8, a long line,
// and no line end behind the last one.
std::string MixedLines() {
  std::string text = Captions(10);
  absl::StrAppend(&text, "\n\nA dog runs.\r\n\r\n\xff\xfe A dog runs. \xc3\n \n", Captions(2));
  for (int i = 0; i < 20; ++i) absl::StrAppend(&text, "A man is riding a bicycle. ");
  return absl::StrCat(text, "\nA dog runs.\n\nTwo cats sleep.");
}

// Expects that `parts` parts give what the whole gives, for flags that name the files.
void ExpectParts(Outcome (*run)(const std::string&), const std::string& flags, int parts) {
  const Outcome whole = run(flags);
  std::string all;
  std::string errors;
  for (int k = 1; k <= parts; ++k) {
    const Outcome part = run(absl::StrCat(flags, " --shard=", k, "/", parts));
    EXPECT_EQ(part.status, 0) << part.err;
    absl::StrAppend(&all, part.out);
    absl::StrAppend(&errors, part.err);
  }
  EXPECT_EQ(all, whole.out) << flags << " in " << parts << " parts";
  EXPECT_EQ(errors, whole.err) << flags << " in " << parts << " parts";
}
Outcome RunTranslate(const std::string& flags) { return Translate(flags, ""); }
Outcome RunScore(const std::string& flags) { return Score(flags); }

TEST(ShardTest, PartsGiveWhatTheWholeGives) {
  const std::string path = TestFile("shards", MixedLines());
  for (const int parts : {1, 3, 30}) {
    ExpectParts(RunTranslate, absl::StrCat(kFast, "--warnings --src=", path), parts);
    if (kSanitized) return;
  }
  for (const char* flags : {"--output_format=jsonl", "--output_format=nbest", "--print_scores",
                            "--alignment=hard", "--sampling_topk=0 --seed=7", "--markup=html"}) {
    ExpectParts(RunTranslate, absl::StrCat(kFast, flags, " --src=", path), 3);
  }
  for (const char* text : {"", "\n", "A dog runs.", "\r\n\n"}) {
    ExpectParts(RunTranslate, absl::StrCat(kFast, "--src=", TestFile("few", text)), 4);
  }
}

// What stands on a line may depend on those before it.
TEST(ShardTest, PartsKnowTheLinesBefore) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string page =
      TestFile("page",
               "<p>A dog runs.\n<!-- A dog\nruns.\nA cat sleeps. -->\nA man runs.\n<code>A dog\n"
               "runs.</code>\nA dog runs.\n");
  const std::string table = TestFile("table",
                                     "1\t\"A dog runs.\nTwo cats sleep.\n\"\tx\n2\tA man "
                                     "sleeps.\ty\n3\t\"A\"\"b\"\n\n4\tA dog runs.\tz\n");
  const std::string objects = TestFile("objects",
                                       "{\"text\":\"A dog runs.\"}\n\n{\"text\":\"A man\\n"
                                       "sleeps.\",\"id\":7}\n{\"text\":\"A cat.\"}\n");
  for (const int parts : {2, 3, 5, 9}) {
    ExpectParts(RunTranslate, absl::StrCat(kFast, "--text=lines --markup=html --src=", page),
                parts);
    ExpectParts(RunTranslate, absl::StrCat(kFast, "--tsv_column=2 --src=", table), parts);
    ExpectParts(RunTranslate, absl::StrCat(kFast, "--input_format=jsonl --src=", objects), parts);
  }
}

// Where another file runs along, the parts have as many lines.
TEST(ShardTest, FilesThatRunAlong) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string source = TestFile("source", Captions(2) + "A dog runs.\n\nTwo cats sleep.\n");
  const std::string prefixes = TestFile("prefixes", "Ein\n\nEine Katze\n\n\n");
  const std::string targets = TestFile("targets", "Ein\nZwei\nEin Hund rennt.\n\nZwei Katzen.\n");
  for (const int parts : {2, 5, 8}) {
    ExpectParts(RunTranslate, absl::StrCat(kFast, "--src=", source, " --target_prefix=", prefixes),
                parts);
    ExpectParts(RunScore, absl::StrCat("--src=", source, " --tgt=", targets), parts);
  }
  EXPECT_EQ(Lines(RunScore(absl::StrCat("--src=", source, " --tgt=", targets, " --shard=2/5")).out)
                .size(),
            1u);
  const std::string pairs = TestFile("pairs",
                                     "A dog runs.\tEin Hund rennt.\n\t\nA cat.\tEine "
                                     "Katze.\n");
  ExpectParts(RunScore, absl::StrCat("--output_format=jsonl --tsv --src=", pairs), 3);
  // Only the last part can say that there are too many.
  const std::string more = TestFile("more", ReadFile(targets) + "Eine\n");
  EXPECT_EQ(Score(absl::StrCat("--src=", source, " --tgt=", more, " --shard=1/2")).status, 0);
  const Outcome last = Score(absl::StrCat("--src=", source, " --tgt=", more, " --shard=2/2"));
  EXPECT_EQ(last.status, 1);
  EXPECT_THAT(last.err, HasSubstr("--src has fewer lines than --tgt"));
}

TEST(ShardTest, Refusals) {
  const std::string path = TestFile("lines", "A dog runs.\n");
  for (const char* shard : {"0/2", "3/2", "1", "1/", "/2", "a/b", "1/2/3", "-1/2", "01/2", " 1/2",
                            "1/0", "99999999999/99999999999"}) {
    ExpectUsageError(RunTranslate(absl::StrCat("--src=", path, " '--shard=", shard, "'")),
                     absl::StrCat("--shard must be K/N with K from 1 to N, not \"", shard, "\""));
  }
  const auto refused = [](const std::string& flags, const std::string& why) {
    ExpectUsageError(RunTranslate(absl::StrCat("--shard=1/2 ", flags)), why);
  };
  const std::string plain = "--shard takes a part of a plain file, but ";
  refused("", plain + "the input is standard input; name such a file with --src");
  refused("'A dog'", plain + "the input is TEXT of the command line");
  ExpectUsageError(Shell(absl::StrCat("gzip >", path, ".gz; ", CaptionsProgram("nibu-translate"),
                                      " --shard=1/2 --src=", path, ".gz"),
                         "A dog runs.\n"),
                   absl::StrCat(plain, path, ".gz is compressed with gzip"));
  refused("--src=/dev/null", plain + "/dev/null is a pipe or device");
  ExpectUsageError(RunTranslate("--shard= --src=" + path), "--shard is empty; give K/N");
  refused(absl::StrCat("--target_prefix=- --src=", path), "--target_prefix is standard input");
  refused("--text=paragraphs --src=" + path, "--shard is for lines");
  const std::string page = TestFile("page.html", "<p>A dog runs.</p>\n");
  const Outcome document = RunTranslate("--shard=1/2 --src=" + page);
  EXPECT_EQ(document.status, 2);
  EXPECT_THAT(document.err, HasSubstr("error: --shard is for lines; give --text=lines"));
}

}  // namespace
}  // namespace nibu::internal
