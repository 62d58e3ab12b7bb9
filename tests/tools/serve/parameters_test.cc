// Tests of the server's parameters from JSON, forms and queries.
#include "tools/serve/parameters.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

absl::StatusOr<Parameters> Read(const std::string& type, const std::string& body,
                                const std::string& query = "") {
  HttpRequest request;
  request.content_type = type;
  request.body = body;
  request.query = query;
  return ReadParameters(request);
}

// Returns the values as JSON, or the error.
std::string Values(const absl::StatusOr<Parameters>& parameters) {
  if (!parameters.ok()) return std::string(parameters.status().message());
  return nlohmann::json(parameters->values).dump();
}

TEST(ParametersTest, JsonHasAnyValues) {
  const auto read = Read("application/json; charset=utf-8", R"({"q": ["a", 1], "n": null})", "q=x");
  EXPECT_EQ(Values(read), R"({"n":null,"q":["a",1]})");
  EXPECT_FALSE(read->is_form);
  EXPECT_EQ(Values(Read("application/ld+json", "{}")), "{}");
  for (const char* bad :
       {"", "[1]", "\"q\"", "{\"q\":", "{\"q\": \"\\ud800\"}", "{\"q\": \"\xff\"}"}) {
    EXPECT_EQ(Values(Read("application/json", bad)), "Invalid JSON format") << bad;
  }
  const std::string deep = absl::StrCat("{\"q\":", std::string(1000, '['));
  EXPECT_EQ(Values(Read("APPLICATION/JSON", deep)), "Invalid JSON format");
  std::string list = "{\"q\":[\"x\\\",,,\"";
  for (int i = 0; i < 19'990; ++i) list += ",0";
  EXPECT_TRUE(Read("application/json", list + "]}").ok());
  for (int i = 0; i < 20; ++i) list += ",0";
  EXPECT_EQ(Values(Read("application/json", list + "]}")), "the request has too many values");
}

TEST(ParametersTest, FormsAndQueries) {
  constexpr char kForm[] = "application/x-www-form-urlencoded";
  const auto read = Read(kForm, "q=a+b%26%3d%C3%a4&source=en&&x&q=second", "target=de&source=fr");
  EXPECT_EQ(Values(read), R"({"q":"a b&=ä","source":"fr","target":"de","x":""})");
  EXPECT_TRUE(read->is_form);
  EXPECT_EQ(Values(Read("", "q=x", "q=y")), R"({"q":"y"})");
  EXPECT_EQ(Values(Read(kForm, "q=100%&p=%4&r=%zz")), R"({"p":"%4","q":"100%","r":"%zz"})");
  std::string many;
  for (int i = 0; i < 20'000; ++i) absl::StrAppend(&many, i, "=&");
  EXPECT_EQ(Values(Read(kForm, many)), "the form has too many fields");
}

TEST(ParametersTest, Multipart) {
  const std::string type = "multipart/form-data; boundary=\"--x y\"";
  const std::string body =
      "ignored\r\n----x y\r\n"
      "content-disposition: form-data; name=\"q\"\r\nContent-Type: text/plain\r\n\r\n"
      "two\r\nlines\r\n--\r\n"
      "----x y\r\nContent-Disposition: form-data; filename=\"a;b\"; name=f\r\n\r\nfile\r\n"
      "----x y\r\nContent-Disposition: form-data; name=\"a\\\"b\"\r\n\r\n\r\n"
      "----x y--\r\nignored, too";
  EXPECT_EQ(Values(Read(type, body, "source=en")),
            R"({"a\"b":"","q":"two\r\nlines\r\n--","source":"en"})");
  EXPECT_EQ(Values(Read("multipart/form-data; boundary=b", "--b--")), "{}");
  for (const char* bad :
       {"", "--b", "--b\r\n", "--b\r\n\r\n", "--b\r\nX: y\r\n\r\nz", "--b\r\n\r\nz\r\n--b--",
        "--b\r\nContent-Disposition: form-data; name=q\r\n--b--", "--b\r\n--b\r\n--b--"}) {
    EXPECT_FALSE(Read("multipart/form-data; boundary=b", bad).ok()) << bad;
  }
  EXPECT_FALSE(Read("multipart/form-data", "--b--").ok());
  EXPECT_FALSE(Read("multipart/form-data; boundary=", "--b--").ok());
}

}  // namespace
}  // namespace nibu::internal
