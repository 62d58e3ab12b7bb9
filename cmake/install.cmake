# cmake --install and find_package(nibu).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(libraries nibu_core nibu_engine nibu_models nibu_tokenizer nibu_text nibu_tools)
foreach(library ${libraries})
  string(REPLACE "nibu_" "" exported ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${exported})
  add_library(nibu::${exported} ALIAS ${library})
endforeach()
install(TARGETS ${libraries} EXPORT nibu ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ${NIBU_PROGRAMS} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

foreach(folder engine models tokenizer tools)
  install(
    DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}
    DESTINATION include/nibu
    FILES_MATCHING
    PATTERN "*.h"
    PATTERN pretrained EXCLUDE)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/pretrained/en-de DESTINATION share/nibu/models)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs DESTINATION share/nibu)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
              ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/nibu)
install(EXPORT nibu NAMESPACE nibu:: FILE nibu-targets.cmake DESTINATION ${package_folder})
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/nibu-config.cmake.in ${PROJECT_BINARY_DIR}/nibu-config.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nibu-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
# The packages nibu was built with are found the same way again.
install(FILES ${PROJECT_SOURCE_DIR}/cmake/dependencies.cmake ${PROJECT_BINARY_DIR}/nibu-config.cmake
              ${PROJECT_BINARY_DIR}/nibu-config-version.cmake DESTINATION ${package_folder})
