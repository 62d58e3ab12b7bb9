# Documents for those who use an installed nibu, and a man page of each interface. Documents keep the places that they
# have in the source tree, so that links between them stay as they are; installed_links.awk removes the others.
set(documents CHANGELOG.md README.md engine/PERFORMANCE.md engine/attention/mixers/README.md
    models/pretrained/en-de/README.md tools/bench/README.md tools/c/README.md tools/cli/FLAGS.md
    tools/cli/README.md tools/inspect/README.md tools/marian/README.md tools/python/README.md
    tools/python/nibu/ctranslate2/README.md tools/serve/README.md tools/text/README.md)
set(linked_files LICENSE tests/library_example/translate.c tests/library_example/translate.cc tools/c/example_cffi.py
    tools/c/example_ctypes.py)
list(JOIN documents " " installed)
list(JOIN linked_files " " others)
set(pages "")
foreach(document ${documents})
  get_filename_component(folder ${document} DIRECTORY)
  set(page ${PROJECT_BINARY_DIR}/documents/${document})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/documents/${folder})
  add_custom_command(
    OUTPUT ${page}
    COMMAND awk -v "installed=${installed} ${others}" -f cmake/installed_links.awk ${document} > ${page}
    DEPENDS ${document} cmake/installed_links.awk WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
  list(APPEND pages ${page})
endforeach()
foreach(file ${linked_files})
  get_filename_component(folder ${file} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${file} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()

# nibu_reference(NAME LANGUAGE HEADER...): the man page NAME(3) of public headers.
function(nibu_reference name language)
  set(page ${PROJECT_BINARY_DIR}/documents/${name}.3)
  set(script ${PROJECT_SOURCE_DIR}/cmake/reference_page.awk)
  add_custom_command(
    OUTPUT ${page}
    COMMAND awk -v name=${name} -v "about=the ${language} interface of nibu" -v version=${PROJECT_VERSION}
            -f ${script} ${ARGN} > ${page}
    DEPENDS ${ARGN} ${script} VERBATIM)
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
  set(pages ${pages} ${page} PARENT_SCOPE)
endfunction()
set(headers nibu translator model options result text text_feed sentences language)
list(TRANSFORM headers REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/tools/text/nibu/\\1.h")
nibu_reference(nibu_cpp C++ ${headers} ${PROJECT_SOURCE_DIR}/engine/nibu/engine.h
               ${PROJECT_BINARY_DIR}/include/nibu/version.h)
nibu_reference(nibu_c C ${PROJECT_SOURCE_DIR}/tools/text/nibu/c.h)
add_custom_target(nibu_documents ALL DEPENDS ${pages})
