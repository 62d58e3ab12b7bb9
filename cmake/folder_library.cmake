# nibu_folder_library(NAME [PUBLIC libs...] [PRIVATE libs...]) makes one static library of every
# .cc file below the current folder, programs (nibu_*.cc) and folders with a CMakeLists.txt of their
# own left out.
function(nibu_folder_library name)
  cmake_parse_arguments(ARG "" "" "PUBLIC;PRIVATE" ${ARGN})
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
  target_include_directories(
    ${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/nibu>)
  target_link_libraries(${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
endfunction()
