// Tests of the figures that the server counts.
#include "tools/serve/metrics.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nibu/version.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Text(const RequestCounts& counts) {
  MetricsText text;
  counts.AppendTo(&text);
  return text.text();
}

// A server that has run for long has large sums, whose rates need all digits.
TEST(MetricsTest, NumbersKeepTheirDigits) {
  MetricsText text;
  text.Add("a", "counter", "Help.", 12345678.125);
  text.Add("b", "counter", "Help.", 9007199254740991.0);
  text.Add("c", "counter", "Help.", 1764358000.015625);
  text.Add("d", "counter", "Help.", 0);
  EXPECT_EQ(text.text(),
            "# HELP a Help.\n# TYPE a counter\na 12345678.125\n"
            "# HELP b Help.\n# TYPE b counter\nb 9007199254740991\n"
            "# HELP c Help.\n# TYPE c counter\nc 1764358000.015625\n"
            "# HELP d Help.\n# TYPE d counter\nd 0\n");
}

TEST(MetricsTest, TimesByTheClassOfTheStatus) {
  RequestCounts counts;
  // Times that a client could wait for are there from the beginning.
  EXPECT_THAT(Text(counts), HasSubstr("nibu_translate_seconds_count{status=\"5xx\"} 0\n"));
  counts.Add("/translate", 200, 0.25);
  counts.Add("/translate", 200, 3);
  counts.Add("/translate", 504, 40);
  counts.Add("/translate", 499, 0.5);
  counts.Add("/translate", 400, 0.5);
  counts.Add("/detect", 400, 0.5);
  const std::string text = Text(counts);
  for (const char* line : {"nibu_requests_total{path=\"/translate\",status=\"200\"} 2\n",
                           "nibu_requests_total{path=\"/detect\",status=\"400\"} 1\n",
                           "nibu_translate_seconds_bucket{status=\"2xx\",le=\"0.1\"} 0\n",
                           "nibu_translate_seconds_bucket{status=\"2xx\",le=\"0.25\"} 1\n",
                           "nibu_translate_seconds_bucket{status=\"2xx\",le=\"+Inf\"} 2\n",
                           "nibu_translate_seconds_sum{status=\"2xx\"} 3.25\n",
                           "nibu_translate_seconds_count{status=\"4xx\"} 2\n",
                           "nibu_translate_seconds_bucket{status=\"5xx\",le=\"30\"} 0\n",
                           "nibu_translate_seconds_bucket{status=\"5xx\",le=\"+Inf\"} 1\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(MetricsTest, PairsOfLanguagesAreBounded) {
  RequestCounts counts;
  for (int i = 0; i < 1000; ++i) counts.AddTexts(absl::StrCat("x", i), "de", 2);
  counts.AddTexts("x0", "de", 5);
  const std::string text = Text(counts);
  EXPECT_THAT(text, HasSubstr("nibu_texts_total{source=\"x0\",target=\"de\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("nibu_texts_total{source=\"x99\",target=\"de\"} 2\n"));
  EXPECT_THAT(text, Not(HasSubstr("x100")));
  EXPECT_THAT(text, HasSubstr("nibu_texts_total{source=\"other\",target=\"other\"} 1800\n"));
}

TEST(MetricsTest, VersionAndStart) {
  MetricsText text;
  AddProcess(1764358000.5, &text);
  EXPECT_THAT(text.text(), HasSubstr("nibu_build_info{version=\"" NIBU_VERSION_STRING "\"} 1\n"));
  EXPECT_THAT(text.text(), HasSubstr("process_start_time_seconds 1764358000.5\n"));
}

}  // namespace
}  // namespace nibu::internal
