// Tests of the reader of language codes in their common forms.
#include "tokenizer/unicode/language_code.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LanguageCodeTest, AnyCommonForm) {
  const std::vector<std::string> m2m = {"de", "en", "he", "pt", "zh"};
  const std::vector<std::string> nllb = {"arb_Arab", "deu_Latn", "eng_Latn", "fra_Latn",
                                         "pes_Arab", "por_Latn", "zho_Hans", "zho_Hant"};
  const std::vector<std::string> mbart = {"de_DE", "en_XX", "pt_XX", "zh_CN"};
  for (const char* code : {"de", "deu", "ger", "de-DE", "de_DE", "deu_Latn", "DE", "de-AT"}) {
    EXPECT_THAT(SameLanguage(code, m2m), ElementsAre("de")) << code;
    EXPECT_THAT(SameLanguage(code, nllb), ElementsAre("deu_Latn")) << code;
    EXPECT_THAT(SameLanguage(code, mbart), ElementsAre("de_DE")) << code;
  }
  for (const char* code : {"zh-Hans", "zh_CN", "zho_Hans", "cmn-Hans"}) {
    EXPECT_THAT(SameLanguage(code, m2m), ElementsAre("zh")) << code;
    EXPECT_THAT(SameLanguage(code, nllb), ElementsAre("zho_Hans")) << code;
    EXPECT_THAT(SameLanguage(code, mbart), ElementsAre("zh_CN")) << code;
  }
  for (const char* code : {"zh-TW", "zh-Hant", "zh-Hant-HK"}) {
    EXPECT_THAT(SameLanguage(code, nllb), ElementsAre("zho_Hant")) << code;
  }
  EXPECT_THAT(SameLanguage("zh", nllb), ElementsAre("zho_Hans", "zho_Hant"));
  EXPECT_THAT(SameLanguage("fa", nllb), ElementsAre("pes_Arab"));
  EXPECT_THAT(SameLanguage("ar", nllb), ElementsAre("arb_Arab"));
  EXPECT_THAT(SameLanguage("pt-BR", mbart), ElementsAre("pt_XX"));
  EXPECT_THAT(SameLanguage("pt-BR", {"pt_PT", "pt_BR"}), ElementsAre("pt_BR"));
  EXPECT_THAT(SameLanguage("pt", {"pt_PT", "pt_BR"}), ElementsAre("pt_PT", "pt_BR"));
}

TEST(LanguageCodeTest, MacrolanguagesMatchTheirMembers) {
  const std::vector<std::string> nllb = {"nno_Latn", "nob_Latn", "pbt_Arab", "quy_Latn"};
  EXPECT_THAT(SameLanguage("no", nllb), ElementsAre("nno_Latn", "nob_Latn"));
  EXPECT_THAT(SameLanguage("nb", nllb), ElementsAre("nob_Latn"));
  EXPECT_THAT(SameLanguage("nn-NO", nllb), ElementsAre("nno_Latn"));
  EXPECT_THAT(SameLanguage("ps", nllb), ElementsAre("pbt_Arab"));
  EXPECT_THAT(SameLanguage("que", nllb), ElementsAre("quy_Latn"));
  EXPECT_THAT(SameLanguage("nb", {"da", "no"}), ElementsAre("no"));
  EXPECT_THAT(SameLanguage("nno", {"da", "nb"}), IsEmpty());
}

TEST(LanguageCodeTest, FamiliesAreNotOneLanguage) {
  for (const char* const code : {"de", "deu_Latn", "zh", "cmn_Hant", "zlm"}) {
    EXPECT_TRUE(IsOneLanguage(code)) << code;
  }
  for (const char* const code : {"", "roa", "mul", "gem", "ROMANCE", "3b", "german"}) {
    EXPECT_FALSE(IsOneLanguage(code)) << code;
  }
}

TEST(LanguageCodeTest, OthersAreNone) {
  const std::vector<std::string> codes = {"de", "en"};
  for (const char* code : {"", "xyzzy", "fr", "d", "German", "\xff", "-", "_", "und"}) {
    EXPECT_THAT(SameLanguage(code, codes), IsEmpty()) << code;
  }
  EXPECT_THAT(SameLanguage("de", {}), IsEmpty());
  EXPECT_THAT(SameLanguage(std::string(100000, 'a'), codes), IsEmpty());
}

}  // namespace
}  // namespace nibu::internal
