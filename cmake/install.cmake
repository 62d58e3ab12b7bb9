# cmake --install, find_package(nibu) and pkg-config nibu.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/nibu)
install(TARGETS nibu EXPORT nibu LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS nibu_static EXPORT nibu-static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT nibu NAMESPACE nibu:: FILE nibu-targets.cmake DESTINATION ${package_folder})
install(EXPORT nibu-static NAMESPACE nibu:: FILE nibu-static-targets.cmake
        DESTINATION ${package_folder})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/text/nibu ${PROJECT_SOURCE_DIR}/engine/nibu
                  ${PROJECT_BINARY_DIR}/include/nibu
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

if(NIBU_TOOLS)
  install(TARGETS ${NIBU_PROGRAMS} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # The programs write their man pages and completion themselves, which they can only where they run.
  if(NOT CMAKE_CROSSCOMPILING AND NOT NIBU_SANITIZE)
    include(cmake/help_pages.cmake)
  endif()
  install(PROGRAMS ${PROJECT_SOURCE_DIR}/tools/get_model.sh DESTINATION ${CMAKE_INSTALL_BINDIR}
          RENAME nibu-get-model)
  install(PROGRAMS ${PROJECT_SOURCE_DIR}/tools/serve/load.py DESTINATION ${CMAKE_INSTALL_BINDIR}
          RENAME nibu-load)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/get_model DESTINATION share/nibu
          FILES_MATCHING PATTERN "*.sh")
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/pretrained/en-de DESTINATION share/nibu/models)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs DESTINATION share/nibu)
include(cmake/documents.cmake)

list(FILTER dependencies INCLUDE REGEX "::")
list(JOIN dependencies " " nibu_static_needs)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/nibu-config.cmake.in ${PROJECT_BINARY_DIR}/nibu-config.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nibu-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
# The packages nibu was built with are found the same way again.
install(FILES ${PROJECT_SOURCE_DIR}/cmake/dependencies.cmake ${PROJECT_BINARY_DIR}/nibu-config.cmake
              ${PROJECT_BINARY_DIR}/nibu-config-version.cmake DESTINATION ${package_folder})

# The file finds the rest from where it lies, so that the installed tree can be moved.
file(RELATIVE_PATH prefix_from_pc /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
list(FILTER dependencies INCLUDE REGEX "^absl::")
list(TRANSFORM dependencies REPLACE "absl::" "absl_")
list(JOIN dependencies " " absl_private)
configure_file(${PROJECT_SOURCE_DIR}/cmake/nibu.pc.in ${PROJECT_BINARY_DIR}/nibu.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/nibu.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
