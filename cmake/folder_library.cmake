# nibu_folder_library(NAME [PUBLIC libs...] [PRIVATE libs...] [HEADERS headers...]) makes one static library of every
# .cc file below the current folder, programs (nibu_*.cc) and folders with a CMakeLists.txt of their
# own left out. Its objects are fit for a shared library, too, and export only what bears
# NIBU_EXPORT. The libraries of others that it needs are added to the global property
# NIBU_DEPENDENCIES, unless nibu_NAME is none of the library's parts (NOT_IN_LIBRARY). HEADERS, which most sources
# include, are compiled once. The sources must include them themselves: with a compiler launcher (ccache) and
# in the preset fuzz they are not precompiled, so that what is missing shows.
function(nibu_folder_library name)
  cmake_parse_arguments(ARG "NOT_IN_LIBRARY" "" "PUBLIC;PRIVATE;HEADERS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cc)
  list(FILTER sources EXCLUDE REGEX "(^|/)nibu_[a-z_]+\\.cc$")
  file(GLOB own RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} */CMakeLists.txt)
  foreach(list IN LISTS own)
    get_filename_component(folder ${list} DIRECTORY)
    list(FILTER sources EXCLUDE REGEX "^${folder}/")
  endforeach()
  if(NOT sources) # nothing there yet
    add_library(${name} INTERFACE)
    return()
  endif()
  add_library(${name} STATIC ${sources})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                                           VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  if(ARG_HEADERS AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT NIBU_FUZZ)
    target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
    # GCC's false alarm over std::string (its bug 105651) bears these names where <string> is precompiled.
    target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-array-bounds>)
  endif()
  if(NOT ARG_NOT_IN_LIBRARY)
    set(others ${ARG_PUBLIC} ${ARG_PRIVATE})
    list(FILTER others EXCLUDE REGEX "^nibu_")
    set_property(GLOBAL APPEND PROPERTY NIBU_DEPENDENCIES ${others})
    set_property(GLOBAL APPEND PROPERTY NIBU_PARTS ${name})
  endif()
endfunction()
