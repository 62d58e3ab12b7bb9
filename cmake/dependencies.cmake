# Everything that is linked with nibu_static, all of it packaged by Debian 12 and 13. NIBU_FIND is REQUIRED, or
# QUIET for a user of the installed package, whose configuration (nibu-config.cmake) then looks at the targets.
if(NIBU_FIND STREQUAL "REQUIRED")
  set(required REQUIRED)
else()
  set(required "")
endif()
# The least versions are those of Debian 12, the oldest ones that are tested. RE2's package states none there, nor do
# SentencePiece (0.1.97) and CLD2 where they are found below.
#
# nibu_find(NAME LEAST): find_package(NAME LEAST), also where a package's own comparison takes no later version: Abseil's
# takes its own alone, oneDNN's those of one major version.
macro(nibu_find name least)
  find_package(${name} ${NIBU_FIND})
  if(required AND ${name}_VERSION VERSION_LESS ${least})
    message(FATAL_ERROR "nibu needs ${name} ${least} or newer; ${${name}_VERSION} is in ${${name}_DIR}")
  endif()
endmacro()
find_package(Threads ${NIBU_FIND})
nibu_find(absl 20220623)
nibu_find(dnnl 2.6.3)
find_package(yaml-cpp 0.7.0 ${NIBU_FIND})
find_package(ZLIB 1.2.13 ${NIBU_FIND})
find_package(ICU 72.1 ${NIBU_FIND} COMPONENTS uc i18n)
if(TARGET yaml-cpp AND NOT TARGET yaml-cpp::yaml-cpp) # before 0.8
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

find_package(PkgConfig ${NIBU_FIND})
if(PKG_CONFIG_FOUND)
  pkg_check_modules(HWY ${NIBU_FIND} IMPORTED_TARGET GLOBAL libhwy>=1.0.3)
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
