// Tests of the language detector: many languages, scripts, short texts, HTML, and confidences.
// Threads: the thread sanitizer runs this file.
#include "tokenizer/languages/language_detector.h"

#include <algorithm>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sanitizers.h"
#include "tokenizer/languages/language_scores.h"

namespace nibu::internal {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;
using ::testing::SizeIs;

using Codes = std::vector<std::string>;

// Returns the most probable language among `codes`, or "" if none can be told.
std::string Best(const std::string& text, const Codes& codes = {}, bool is_html = false) {
  const auto found = LanguageDetector(codes).Detect(text, is_html);
  return found.empty() ? "" : found.front().code;
}

float Confidence(const std::string& text, const Codes& codes = {}) {
  const auto found = LanguageDetector(codes).Detect(text);
  return found.empty() ? 0 : found.front().confidence;
}

TEST(LanguageDetectorTest, LanguagesOfManyScripts) {
  const std::pair<const char*, const char*> sentences[] = {
      {"en", "The weather is nice today, so we are going for a walk."},
      {"de", "Das Wetter ist heute schön, deshalb gehen wir spazieren."},
      {"fr", "Il fait beau aujourd'hui, alors nous allons nous promener."},
      {"es", "Hoy hace buen tiempo, así que vamos a dar un paseo."},
      {"it", "Oggi il tempo è bello, quindi andiamo a fare una passeggiata."},
      {"pl", "Dzisiaj jest ładna pogoda, więc idziemy na spacer."},
      {"tr", "Bugün hava güzel, bu yüzden yürüyüşe çıkıyoruz."},
      {"vi", "Hôm nay thời tiết đẹp nên chúng tôi đi dạo."},
      {"ru", "Сегодня хорошая погода, поэтому мы идём гулять."},
      {"uk", "Сьогодні гарна погода, тому ми йдемо на прогулянку."},
      {"el", "Ο καιρός είναι καλός σήμερα."},
      {"he", "מזג האוויר יפה היום ולכן אנחנו יוצאים לטיול."},
      {"ar", "الطقس جميل اليوم لذلك سنذهب في نزهة."},
      {"fa", "امروز هوا خوب است و ما به پیاده‌روی می‌رویم."},
      {"hi", "आज मौसम अच्छा है इसलिए हम टहलने जा रहे हैं।"},
      {"th", "วันนี้อากาศดี เราจึงไปเดินเล่น"},
      {"ka", "დღეს კარგი ამინდია."},
      {"ja", "今日は天気がいいので散歩に行きます。"},
      {"ko", "오늘은 날씨가 좋아서 산책을 갑니다."},
      {"zh", "今天天气很好，所以我们去散步。"},
      {"zh-Hant", "今天天氣很好，所以我們去散步。"},
  };
  Codes codes;
  for (const auto& [code, text] : sentences) codes.push_back(code);
  for (const auto& [code, text] : sentences) {
    EXPECT_EQ(Best(text), code) << text;
    EXPECT_EQ(Best(text, codes), code) << text;
    EXPECT_GT(Confidence(text, codes), 0.7) << text;
  }
}

TEST(LanguageDetectorTest, ShortTextsAmongTwo) {
  for (const char* text : {"Hallo", "Hallo Welt", "Guten Morgen", "Danke schön", "Ein Mann"}) {
    EXPECT_EQ(Best(text, {"en", "de"}), "de") << text;
  }
  for (const char* text : {"Hello world", "Good morning", "Thanks", "A man is riding a bicycle."}) {
    EXPECT_EQ(Best(text, {"en", "de"}), "en") << text;
  }
  EXPECT_LT(Confidence("Hallo", {"en", "de"}), 0.7);
  EXPECT_GT(Confidence("Guten Morgen", {"en", "de"}), 0.9);
}

TEST(LanguageDetectorTest, CodesAsTheCallerSpellsThem) {
  const std::string text = "Das Wetter ist heute schön, deshalb gehen wir spazieren.";
  for (const char* code : {"de", "DE", "deu", "ger", "deu_Latn", "de_DE", "de-AT"}) {
    EXPECT_EQ(Best(text, {"en", code}), code);
  }
  EXPECT_EQ(Best("Oggi il tempo è bello, quindi andiamo a casa.", {"eng_Latn", "ita_Latn"}),
            "ita_Latn");
  EXPECT_EQ(Best("מזג האוויר יפה היום", {"en", "iw"}), "iw");
  EXPECT_EQ(Best("الطقس جميل اليوم", {"arb_Arab", "pes_Arab"}), "arb_Arab");
}

TEST(LanguageDetectorTest, VariantsOfOneLanguage) {
  const std::string simplified = "今天天气很好，所以我们去散步。";
  const std::string traditional = "今天天氣很好，所以我們去散步。";
  EXPECT_EQ(Best(simplified, {"zho_Hant", "zho_Hans"}), "zho_Hans");
  EXPECT_EQ(Best(traditional, {"zho_Hans", "zho_Hant"}), "zho_Hant");
  EXPECT_EQ(Best(traditional, {"zh_CN", "zh_TW"}), "zh_TW");
  for (const char* only : {"zh", "zh-TW", "zho_Hans"}) {
    EXPECT_EQ(Best(simplified, {"en", "ja", only}), only);
    EXPECT_EQ(Best(traditional, {"en", "ja", only}), only);
  }

  const std::string portuguese = "O tempo está bom hoje, por isso vamos passear.";
  EXPECT_EQ(Best(portuguese, {"es", "pt-BR"}), "pt-BR");
  EXPECT_EQ(Best(portuguese, {"pt-BR", "es", "pt-PT"}), "pt-BR");

  const std::string bokmal = "Været er fint i dag, så vi går en tur.";
  for (const char* only : {"no", "nb", "nob_Latn"}) EXPECT_EQ(Best(bokmal, {"en", only}), only);
  EXPECT_EQ(Best("Eg veit ikkje kva dei gjer heime hjå seg.", {"nno_Latn", "nob_Latn"}),
            "nno_Latn");
  EXPECT_EQ(Best("Eg veit ikkje kva dei gjer heime hjå seg.", {"en", "no"}), "no");

  const std::string latin = "Danas je lepo vreme, zato idemo u šetnju.";
  const std::string cyrillic = "Данас је лепо време, зато идемо у шетњу.";
  EXPECT_EQ(Best(latin, {"en", "sr"}), "sr");
  EXPECT_EQ(Best(cyrillic, {"hr", "sr", "ru"}), "sr");
  EXPECT_EQ(Best(cyrillic, {"srp_Cyrl", "srp_Latn"}), "srp_Cyrl");
  EXPECT_EQ(Best(latin, {"srp_Cyrl", "srp_Latn"}), "srp_Latn");
  EXPECT_EQ(Best(latin, {"en", "bs"}), "bs");
  EXPECT_EQ(Best("Danas je lijepo vrijeme, zato idemo u šetnju.", {"en", "bos_Latn"}), "bos_Latn");
}

TEST(LanguageDetectorTest, LettersOfOneLanguageOnly) {
  EXPECT_EQ(Best("Добрый день", {"de", "ru"}), "ru");
  EXPECT_EQ(Best("Щ", {"de", "el"}), "");
  EXPECT_EQ(Best("Добрый день", {"de", "en"}), "");
  // Only the Burmese letters of Shan are known.
  EXPECT_EQ(Best("မႂ်ႇသုင်ၶႃႈ", {"eng_Latn", "shn_Mymr"}), "shn_Mymr");
  EXPECT_EQ(Best("မႂ်ႇသုင်ၶႃႈ", {"eng_Latn", "shn_Mymr", "ksw_Mymr"}), "");
  // A name in Latin letters does not make a text English.
  EXPECT_EQ(Best("Скачайте приложение Firefox Browser сегодня", {"en", "ru"}), "ru");
}

TEST(LanguageDetectorTest, AnotherLanguageHasLowConfidence) {
  const std::string french = "Il fait beau aujourd'hui, alors nous allons nous promener.";
  EXPECT_LT(Confidence(french, {"en", "de"}), 0.1);
  EXPECT_GT(Confidence(french, {"en", "fr"}), 0.99);
}

TEST(LanguageDetectorTest, NothingToTell) {
  for (const char* text : {"", " ", "\n\t\u3000", "123 456", "?!...", "😀😀", "☃", "\u200b"}) {
    EXPECT_EQ(Best(text), "") << text;
    EXPECT_EQ(Best(text, {"en", "de"}), "") << text;
  }
  EXPECT_EQ(Best("Guten Morgen", {"xyzzy", "", "\xff", "German"}), "");
  EXPECT_EQ(Best("<p><br/></p>", {}, /*is_html=*/true), "");
}

TEST(LanguageDetectorTest, HtmlIsReadWithoutTagsAndScripts) {
  const std::string html =
      "<html lang=\"en\"><head><style>body { color: red; background: none }</style>"
      "<script>var the = 'this is the language of the script'; while (true) {}</script></head>"
      "<body class=\"the quick brown fox\"><p title=\"jumps over\">Das Wetter ist heute "
      "sch&ouml;n.</p></body></html>";
  EXPECT_EQ(Best(html, {"en", "de"}, /*is_html=*/true), "de");
  EXPECT_EQ(Best("&#1044;&#1086;&#1073;&#1088;&#1099;&#1081; &#1076;&#1077;&#1085;&#1100;",
                 {"en", "ru"}, /*is_html=*/true),
            "ru");
  for (const char* broken : {"<", "<p", "&", "&#", "&#x", "&am", "<script>", "<!--", "</",
                             "&#x110000;", "a<b", "<p title=\"", "&#0;", "&#xd800;"}) {
    (void)Best(broken, {}, /*is_html=*/true);
  }
}

TEST(LanguageDetectorTest, BestComesFirst) {
  const LanguageDetector detector;
  for (const char* text : {"Hallo Welt", "Ja", "Добрый день", "The man der Mann", "東京"}) {
    const auto found = detector.Detect(text);
    EXPECT_THAT(found, Not(IsEmpty()));
    float sum = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      if (i > 0) {
        EXPECT_LE(found[i].confidence, found[i - 1].confidence);
      }
      sum += found[i].confidence;
    }
    EXPECT_LE(sum, 1.001);
    EXPECT_THAT(found, Each(Field(&DetectedLanguage::confidence, AllOf(Ge(0.0F), Le(1.0F)))));
  }
}

TEST(LanguageDetectorTest, AnyBytes) {
  const LanguageDetector detector(Codes{"en", "de", "zh", "ru", "ar"});
  const std::string german = "Das Wetter ist heute schön, deshalb gehen wir spazieren.";
  EXPECT_EQ(Best("\xff\xfe" + german + "\xc3", {"en", "de"}), "de");
  EXPECT_EQ(Best(std::string(3, '\0') + german, {"en", "de"}), "de");
  EXPECT_EQ(Best("Das \xe4 Wetter ist heute sch\xf6n, deshalb gehen wir", {"en", "de"}), "de");
  std::mt19937 random(1);
  std::string bytes(1 << 20, 0);
  for (char& byte : bytes) byte = static_cast<char>(random());
  (void)detector.Detect(bytes);
  (void)detector.Detect(bytes, /*is_html=*/true);
  // All short texts of bytes that begin, continue or break characters, tags and entities.
  const std::string parts =
      std::string("a <&#;>\xc3\xa4\xe4\xb8\xad\xf0\xff\xd0\xb6\xed") + std::string(1, 0);
  const int texts = kSanitized ? 300 : 3000;
  for (int i = 0; i < texts; ++i) {
    std::string text;
    for (size_t length = random() % 40; length > 0; --length) {
      text.push_back(parts[random() % parts.size()]);
    }
    (void)detector.Detect(text);
    (void)detector.Detect(text, /*is_html=*/true);
  }
}

TEST(LanguageDetectorTest, LongTexts) {
  std::string text;
  while (text.size() < (4 << 20)) text += "Das Wetter ist heute schön, deshalb gehen wir aus. ";
  EXPECT_EQ(Best(text, {"en", "de"}), "de");
  (void)Best(std::string(2 << 20, 'a'), {"en", "de"});
  // CLD2 processes up to 60 KB of letters at once, the last of which may lie behind the limit.
  const auto scores = ScoreLanguages(text, /*is_html=*/false);
  ASSERT_THAT(scores, SizeIs(1));
  EXPECT_GE(scores[0].bytes, kScoredLetters);
  EXPECT_LE(scores[0].bytes, 3 * kScoredLetters);
}

TEST(LanguageDetectorTest, KnownLanguages) {
  const Codes known = LanguageDetector::KnownLanguages();
  EXPECT_THAT(known, AllOf(Contains("en"), Contains("he"), Contains("nn"), Contains("zh"),
                           Contains("zh-Hant"), Contains("eo"), Contains("zu"), Contains("jv")));
  EXPECT_THAT(known, Each(Not(AnyOf("iw", "un", "xxx", "tlh"))));
  // The tables are those of libcld2_full. Those of libcld2 know 80 languages.
  EXPECT_GT(known.size(), 150);
  EXPECT_TRUE(std::is_sorted(known.begin(), known.end()));
}

TEST(LanguageDetectorTest, ThreadsShareADetector) {
  const LanguageDetector detector(Codes{"en", "de", "ru"});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&detector] {
      for (int n = 0; n < 50; ++n) {
        EXPECT_EQ(detector.Detect("Guten Morgen").front().code, "de");
        EXPECT_EQ(detector.Detect("Good morning").front().code, "en");
        EXPECT_EQ(detector.Detect("Доброе утро").front().code, "ru");
        EXPECT_EQ(LanguageDetector(Codes{"fr", "en"}).Detect("Bonjour").front().code, "fr");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace nibu::internal
