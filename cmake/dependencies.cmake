# Everything that is linked with nibu_static, all of it packaged by Debian 12 and 13. NIBU_FIND is REQUIRED, or
# QUIET for a user of the installed package, whose configuration (nibu-config.cmake) then looks at the targets.
if(NIBU_FIND STREQUAL "REQUIRED")
  set(required REQUIRED)
else()
  set(required "")
endif()
find_package(Threads ${NIBU_FIND})
find_package(absl ${NIBU_FIND})
find_package(dnnl ${NIBU_FIND})
find_package(ZLIB ${NIBU_FIND})
find_package(ICU ${NIBU_FIND} COMPONENTS uc i18n)
find_package(yaml-cpp ${NIBU_FIND})
if(TARGET yaml-cpp AND NOT TARGET yaml-cpp::yaml-cpp) # before 0.8
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

find_package(PkgConfig ${NIBU_FIND})
if(PKG_CONFIG_FOUND)
  pkg_check_modules(HWY ${NIBU_FIND} IMPORTED_TARGET GLOBAL libhwy)
  pkg_check_modules(RE2 ${NIBU_FIND} IMPORTED_TARGET GLOBAL re2)
endif()

# Not by its pkg-config file: Debian 13's asks for protobuf, which only SentencePiece itself needs.
find_library(SENTENCEPIECE_LIBRARY sentencepiece ${required})
find_path(SENTENCEPIECE_INCLUDE_DIR sentencepiece_processor.h ${required})
if(SENTENCEPIECE_LIBRARY AND SENTENCEPIECE_INCLUDE_DIR AND NOT TARGET SentencePiece::SentencePiece)
  add_library(SentencePiece::SentencePiece UNKNOWN IMPORTED GLOBAL)
  set_target_properties(
    SentencePiece::SentencePiece
    PROPERTIES IMPORTED_LOCATION ${SENTENCEPIECE_LIBRARY}
               INTERFACE_INCLUDE_DIRECTORIES ${SENTENCEPIECE_INCLUDE_DIR})
endif()

# Neither has a config file. CLD2_FULL has tables of 160 languages in place of CLD2's own of 80, and
# no code; the first of two definitions counts, so it stands first.
find_library(CLD2_FULL_LIBRARY cld2_full ${required})
find_library(CLD2_LIBRARY cld2 ${required})
find_path(CLD2_INCLUDE_DIR cld2/public/compact_lang_det.h ${required})
if(CLD2_FULL_LIBRARY AND CLD2_LIBRARY AND CLD2_INCLUDE_DIR AND NOT TARGET CLD2::CLD2)
  add_library(CLD2::CLD2 INTERFACE IMPORTED GLOBAL)
  set_target_properties(
    CLD2::CLD2
    PROPERTIES INTERFACE_LINK_LIBRARIES "${CLD2_FULL_LIBRARY};${CLD2_LIBRARY}"
               INTERFACE_INCLUDE_DIRECTORIES ${CLD2_INCLUDE_DIR})
endif()
