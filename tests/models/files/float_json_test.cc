// Tests of the digits of floats in JSON.
#include "models/files/float_json.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

// Returns the number of digits from the first to the last one that is not 0.
size_t Digits(const std::string& number) {
  std::string digits = number.substr(0, number.find_first_of("eE"));
  digits.erase(
      std::remove_if(digits.begin(), digits.end(), [](char c) { return c == '-' || c == '.'; }),
      digits.end());
  digits.erase(0, digits.find_first_not_of('0'));
  return digits.find_last_not_of('0') + 1;
}

TEST(FloatJson, HasTheFewestDigitsThatAreReadAsTheSameFloat) {
  std::mt19937 random(1);
  for (int i = 0; i < 100000; ++i) {
    const auto bits = static_cast<uint32_t>(random());
    float x = 0;
    std::memcpy(&x, &bits, sizeof(x));
    if (i % 2 == 0) x = -10.0f * static_cast<float>(bits) / 4294967296.0f;  // like a score
    if (!std::isfinite(x)) continue;
    const std::string text = FloatJson(x).dump();
    ASSERT_EQ(std::strtof(text.c_str(), nullptr), x) << text;
    int fewest = 1;
    while (std::strtof(absl::StrFormat("%.*e", fewest - 1, x).c_str(), nullptr) != x) ++fewest;
    // Between large floats, the number in the middle may have fewer digits, and is not taken.
    if (std::abs(x) < 16777216.0f) {
      ASSERT_LE(Digits(text), static_cast<size_t>(fewest)) << text;
    }
  }
  EXPECT_EQ(FloatJson(-3.099051f).dump(), "-3.099051");
  EXPECT_EQ(FloatJson(std::vector<float>{0.0f, 1.0f, 0.1f}).dump(), "[0.0,1.0,0.1]");
  EXPECT_EQ(FloatJson::parse("{\"b\":9.999999747378752e-06,\"a\":0.6000000238418579}").dump(),
            "{\"b\":1e-05,\"a\":0.6}");
}

}  // namespace
}  // namespace nibu::internal
