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
                         $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
                         $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${library} INTERFACE cxx_std_17)
  target_link_libraries(${library} PUBLIC ${NIBU_PUBLIC_DEPENDENCIES} PRIVATE ${dependencies})
endforeach()

# The C++ interface may change with each minor version until 1.0.
set_target_properties(nibu PROPERTIES VERSION ${PROJECT_VERSION}
                                      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
# Hidden visibility alone lets instances of std:: and absl:: templates out.
set(exports ${PROJECT_SOURCE_DIR}/cmake/libnibu.map)
set_target_properties(nibu PROPERTIES LINK_DEPENDS ${exports})
target_link_options(nibu PRIVATE -Wl,--as-needed
                    "-Wl,--version-script=${exports}")
if(NOT NIBU_SANITIZE)  # clang leaves the sanitizers' run time to the program
  target_link_options(nibu PRIVATE -Wl,--no-undefined)
endif()
