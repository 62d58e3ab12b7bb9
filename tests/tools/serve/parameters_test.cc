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
  for (const char* bad : {"", "[1]", "\"q\"", "{\"q\":", "{\"q\": \"\xff\"}", "{\"\\ud800\": 1}"}) {
    EXPECT_EQ(Values(Read("application/json", bad)), "Invalid JSON format") << bad;
  }
  const std::string deep = absl::StrCat("{\"q\":", std::string(1000, '['));
  EXPECT_EQ(Values(Read("APPLICATION/JSON", deep)), "Invalid JSON format");
  std::string list = "{\"q\":[\"x\\\",,,\"";
  for (int i = 0; i < 19'990; ++i) list += ",0";
  EXPECT_TRUE(Read("application/json", list + "]}").ok());
  for (int i = 0; i < 20; ++i) list += ",0";
  EXPECT_EQ(Values(Read("application/json", list + "]}")),
            "Invalid request: more than 20000 values");
}

TEST(ParametersTest, NamesWhatItRefusesInJson) {
  EXPECT_EQ(
      Values(Read("application/json", R"({"q": ["a", "\ud800"], "source": "en"})")),
      "Invalid request: not JSON at byte 20: the value of \"q\" has half of a surrogate pair");
  EXPECT_EQ(Values(Read("application/json", R"({"alternatives": 1e999})")),
            "Invalid request: not JSON at byte 22: the value of \"alternatives\" has a number that "
            "is too large");
  EXPECT_EQ(Values(Read("application/json", R"({"q": "a", "q": "b"})")),
            "Invalid request: the key \"q\" is there twice");
}

TEST(ParametersTest, JsonNeedsNoContentType) {
  constexpr char kJson[] = " \r\n\t{\"q\": \"a\"}";
  for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded", "nonsense"}) {
    const auto read = Read(type, kJson, "q=x");
    EXPECT_EQ(Values(read), R"({"q":"a"})") << type;
    EXPECT_FALSE(read->is_form);
    EXPECT_EQ(Values(Read(type, "{")), "Invalid JSON format");
  }
  EXPECT_EQ(Values(Read("text/plain", "q={}", "q=x")), R"({"q":"x"})");
  EXPECT_TRUE(Read("multipart/form-data; boundary=b", "{\r\n--b--")->is_form);
}

TEST(ParametersTest, FormsAndQueries) {
  constexpr char kForm[] = "application/x-www-form-urlencoded";
  const auto read = Read(kForm, "q=a+b%26%3d%C3%a4&source=en&&x", "target=de&y=%26");
  EXPECT_EQ(Values(read), R"({"q":"a b&=ä","source":"en","target":"de","x":"","y":"&"})");
  EXPECT_TRUE(read->is_form);
  EXPECT_EQ(Values(Read("", "q=x", "q=y")), R"({"q":"y"})");
  EXPECT_EQ(Values(Read(kForm, "q=100%&p=%4&r=%zz")), R"({"p":"%4","q":"100%","r":"%zz"})");
  std::string many;
  for (int i = 0; i < 20'000; ++i) absl::StrAppend(&many, i, "=&");
  EXPECT_EQ(Values(Read(kForm, many)), "the form has too many fields");
}

// A second value would be lost.
TEST(ParametersTest, FieldsThatAreThereTwice) {
  constexpr char kForm[] = "application/x-www-form-urlencoded";
  const std::string twice_q =
      "Invalid request: q parameter is there twice; a list of texts needs JSON";
  EXPECT_EQ(Values(Read(kForm, "q=a&source=en&q=b")), twice_q);
  EXPECT_EQ(Values(Read(kForm, "q=a&q=a")), twice_q);
  // The first value of a name that means nothing here counts.
  EXPECT_EQ(Values(Read(kForm, "x=1&x=2")), R"({"x":"1"})");
  EXPECT_EQ(Values(Read(kForm, "q=a", "q=a")), twice_q);
  EXPECT_EQ(Values(Read("multipart/form-data; boundary=b",
                        "--b\r\nContent-Disposition: form-data; name=q\r\n\r\nx\r\n"
                        "--b\r\nContent-Disposition: form-data; name=q\r\n\r\ny\r\n--b--")),
            twice_q);
  EXPECT_EQ(Values(Read(kForm, "source=en", "source=fr")),
            "Invalid request: source parameter is there twice");
  EXPECT_EQ(Values(Read(kForm, "api_key=k&q=a", "api_key=k")), R"({"api_key":"k","q":"a"})");
}

TEST(ParametersTest, MultipartBodiesHaveFieldsAndFiles) {
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
