# The library as its users link it: nibu::nibu is libnibu.so, nibu::nibu_static is libnibu.a. Both
# are made from the objects of the folder libraries, so that each source is compiled once.
include(GNUInstallDirs)
get_property(parts GLOBAL PROPERTY NIBU_PARTS)
get_property(dependencies GLOBAL PROPERTY NIBU_DEPENDENCIES)
list(REMOVE_DUPLICATES dependencies)
list(REMOVE_ITEM dependencies nlohmann_json::nlohmann_json)  # headers alone
# What the public headers include.
set(NIBU_PUBLIC_DEPENDENCIES absl::status absl::statusor absl::strings absl::span)
list(REMOVE_ITEM dependencies ${NIBU_PUBLIC_DEPENDENCIES})
list(TRANSFORM parts REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)

add_library(nibu SHARED ${objects})
add_library(nibu_static STATIC ${objects})
set_target_properties(nibu_static PROPERTIES OUTPUT_NAME nibu)
foreach(library nibu nibu_static)
  add_library(nibu::${library} ALIAS ${library})
  set_target_properties(${library} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(
    ${library} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/tools/text>
                         $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/engine>
                         $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
                         $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${library} INTERFACE cxx_std_17)
  target_link_libraries(${library} PUBLIC ${NIBU_PUBLIC_DEPENDENCIES} PRIVATE ${dependencies})
endforeach()

# The name that programs load is that of the C interface's version, which lasts. The C++ interface may
# change with each minor version until 1.0: its symbols have that version (see libnibu.map.in), so that
# a C++ program of another one does not start, in place of failing somewhere.
file(STRINGS ${PROJECT_SOURCE_DIR}/tools/text/nibu/c.h abi REGEX "^#define NIBU_ABI_VERSION ")
string(REGEX REPLACE ".* " "" NIBU_ABI_VERSION "${abi}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS tools/text/nibu/c.h)
set_target_properties(nibu PROPERTIES VERSION ${NIBU_ABI_VERSION}.${PROJECT_VERSION}
                                      SOVERSION ${NIBU_ABI_VERSION})
# Hidden visibility alone lets instances of std:: and absl:: templates out.
set(exports ${PROJECT_BINARY_DIR}/libnibu.map)
configure_file(${PROJECT_SOURCE_DIR}/cmake/libnibu.map.in ${exports} @ONLY)
set_target_properties(nibu PROPERTIES LINK_DEPENDS ${exports})
target_link_options(nibu PRIVATE -Wl,--as-needed
                    "-Wl,--version-script=${exports}")
if(NOT NIBU_SANITIZE)  # clang leaves the sanitizers' run time to the program
  target_link_options(nibu PRIVATE -Wl,--no-undefined)
endif()
