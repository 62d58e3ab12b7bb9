# Man pages and completion for bash and zsh, which the programs write when they are built.
set(help_pages "")
# nibu_help_page(PROGRAM KIND NAME FOLDER): what PROGRAM --help=KIND says is installed as FOLDER/NAME.
function(nibu_help_page program kind name folder)
  set(page ${PROJECT_BINARY_DIR}/help/${kind}/${name})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/help/${kind})
  add_custom_command(OUTPUT ${page} COMMAND ${program} --help=${kind} > ${page} DEPENDS ${program}
                     VERBATIM)
  install(FILES ${page} DESTINATION ${folder})
  set(help_pages ${help_pages} ${page} PARENT_SCOPE)
endfunction()
foreach(program ${NIBU_PROGRAMS})
  nibu_help_page(${program} man ${program}.1 ${CMAKE_INSTALL_MANDIR}/man1)
  nibu_help_page(${program} bash ${program} ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  nibu_help_page(${program} zsh _${program} ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endforeach()
add_custom_target(nibu_help_pages ALL DEPENDS ${help_pages})
