// Fuzzes the language detector with text and with HTML, among all languages and among some.
// Confidences must be between 0 and 1, in falling order, and their sum at most 1.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "tokenizer/languages/language_detector.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using nibu::internal::LanguageDetector;
  static const LanguageDetector all;
  static const LanguageDetector some(
      std::vector<std::string>{"en", "deu_Latn", "zh", "sr", "shn_Mymr"});
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  for (const LanguageDetector* detector : {&all, &some}) {
    for (const bool is_html : {false, true}) {
      float last = 1;
      float sum = 0;
      for (const auto& language : detector->Detect(text, is_html)) {
        if (!(language.confidence >= 0 && language.confidence <= last)) std::abort();
        last = language.confidence;
        sum += last;
      }
      if (!(sum < 1.001F)) std::abort();
    }
  }
  return 0;
}
