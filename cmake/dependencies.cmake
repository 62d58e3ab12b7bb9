# Everything that is linked with nibu_static, all of it packaged by Debian 12 and 13.
find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(dnnl REQUIRED)
find_package(ZLIB REQUIRED)
find_package(ICU REQUIRED COMPONENTS uc i18n)
find_package(yaml-cpp REQUIRED)
if(NOT TARGET yaml-cpp::yaml-cpp) # before 0.8
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

find_package(PkgConfig REQUIRED)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET GLOBAL libhwy)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET GLOBAL re2)

# Not by its pkg-config file: Debian 13's asks for protobuf, which only SentencePiece itself needs.
find_library(SENTENCEPIECE_LIBRARY sentencepiece REQUIRED)
find_path(SENTENCEPIECE_INCLUDE_DIR sentencepiece_processor.h REQUIRED)
if(NOT TARGET SentencePiece::SentencePiece)
  add_library(SentencePiece::SentencePiece UNKNOWN IMPORTED GLOBAL)
  set_target_properties(
    SentencePiece::SentencePiece
    PROPERTIES IMPORTED_LOCATION ${SENTENCEPIECE_LIBRARY}
               INTERFACE_INCLUDE_DIRECTORIES ${SENTENCEPIECE_INCLUDE_DIR})
endif()

# Neither has a config file. CLD2_FULL has tables of 160 languages in place of CLD2's own of 80, and
# no code; the first of two definitions counts, so it stands first.
find_library(CLD2_FULL_LIBRARY cld2_full REQUIRED)
find_library(CLD2_LIBRARY cld2 REQUIRED)
find_path(CLD2_INCLUDE_DIR cld2/public/compact_lang_det.h REQUIRED)
if(NOT TARGET CLD2::CLD2)
  add_library(CLD2::CLD2 INTERFACE IMPORTED GLOBAL)
  set_target_properties(
    CLD2::CLD2
    PROPERTIES INTERFACE_LINK_LIBRARIES "${CLD2_FULL_LIBRARY};${CLD2_LIBRARY}"
               INTERFACE_INCLUDE_DIRECTORIES ${CLD2_INCLUDE_DIR})
endif()
