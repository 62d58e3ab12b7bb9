// Computes SHA-256 as FIPS 180-4 defines it.
#include "tools/bench/sha256.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace nibu::internal {
namespace {

// Returns the first 32 bits of the fractional part of a root. A long double of x86-64 has 64 bits,
// of which the integer part of these roots takes at most 5.
uint32_t Fraction(long double root) {
  return static_cast<uint32_t>((root - std::floor(root)) * 4294967296.0L);
}

// The constants of the standard: of the square roots of the first 8 primes, and of the cube roots
// of the first 64.
struct Constants {
  std::array<uint32_t, 8> start = {};
  std::array<uint32_t, 64> rounds = {};
  Constants() {
    size_t found = 0;
    for (int n = 2; found < rounds.size(); ++n) {
      bool is_prime = true;
      for (int i = 2; i * i <= n; ++i) is_prime &= n % i != 0;
      if (!is_prime) continue;
      if (found < start.size()) start[found] = Fraction(std::sqrt(static_cast<long double>(n)));
      rounds[found++] = Fraction(std::cbrt(static_cast<long double>(n)));
    }
  }
};

}  // namespace

std::string Sha256(absl::string_view bytes) {
  static const Constants constants;
  // A set bit follows the text, then zeros, so that the text's length in bits ends a block.
  std::string text = absl::StrCat(bytes, "\x80");
  text.resize((text.size() + 8 + 63) / 64 * 64);
  for (size_t i = 0; i < 8; ++i) {
    text[text.size() - 1 - i] = static_cast<char>((uint64_t{bytes.size()} * 8) >> (8 * i));
  }
  std::array<uint32_t, 8> hash = constants.start;
  for (size_t block = 0; block < text.size(); block += 64) {
    std::array<uint32_t, 64> w = {};
    for (size_t i = 0; i < 64; ++i) {
      w[i / 4] = w[i / 4] << 8 | static_cast<uint8_t>(text[block + i]);
    }
    for (size_t i = 16; i < 64; ++i) {
      const uint32_t a = w[i - 15];
      const uint32_t b = w[i - 2];
      w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[i - 7] +
             (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = hash;
    for (size_t i = 0; i < 64; ++i) {
      const uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                             ((e & f) ^ (~e & g)) + constants.rounds[i] + w[i];
      const uint32_t second =
          (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g;
      g = f;
      f = e;
      e = d + first;
      d = c;
      c = b;
      b = a;
      a = first + second;
    }
    const std::array<uint32_t, 8> more = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < 8; ++i) hash[i] += more[i];
  }
  std::string hex;
  for (const uint32_t word : hash) absl::StrAppend(&hex, absl::Hex(word, absl::kZeroPad8));
  return hex;
}

}  // namespace nibu::internal
