# nibu_group_sources(NAME SOURCE...) compiles up to six sources of a folder as one, so that the headers that they share
# are read once: seven sources of a folder take 25 CPU seconds alone and 12 as one. Six, because one change
# compiles all of its group. The names in anonymous namespaces must differ within a folder. Sources that Highway compiles
# several times stand alone, as does what includes SentencePiece, whose string_view is another one.
function(nibu_group_sources name)
  foreach(source ${ARGN})
    file(STRINGS ${source} alone REGEX "foreach_target.h|sentencepiece_processor.h")
    if(NOT alone)
      cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
      cmake_path(RELATIVE_PATH path)
      get_filename_component(folder "${path}" DIRECTORY)
      string(MAKE_C_IDENTIFIER "in_${folder}" folder)
      math(EXPR number "0${${folder}} + 1")
      set(${folder} ${number})
      math(EXPR group "(${number} - 1) / 6")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
    endif()
  endforeach()
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A class with a member of an anonymous namespace's type is an error in a header alone, for which GCC takes each source.
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
