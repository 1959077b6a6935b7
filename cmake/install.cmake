# cmake --install: the program, and the engine as a CMake package. A user's project says
#   find_package(trireme REQUIRED)
#   target_link_libraries(mine PRIVATE trireme::engine)
# and includes the public headers: #include <trireme/network.h>.
include(CMakePackageConfigHelpers)

get_property(engine_parts GLOBAL PROPERTY TRIREME_PARTS)

add_library(trireme_engine INTERFACE)
add_library(trireme::engine ALIAS trireme_engine)
set_target_properties(trireme_engine PROPERTIES EXPORT_NAME engine)

set(engine_targets trireme_flags trireme_engine)
foreach(part ${engine_parts})
  target_link_libraries(trireme_engine INTERFACE trireme_${part})
  list(APPEND engine_targets trireme_${part})
endforeach()

set(public_headers ${PROJECT_BINARY_DIR}/public_headers)
install(CODE "execute_process(COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DTO=${public_headers}
  -P ${PROJECT_SOURCE_DIR}/cmake/public_headers.cmake COMMAND_ERROR_IS_FATAL ANY)")
install(DIRECTORY ${public_headers}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/trireme)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/trireme)
install(TARGETS ${engine_targets} EXPORT trireme-targets)
install(EXPORT trireme-targets NAMESPACE trireme:: DESTINATION ${package_folder})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/trireme-config.cmake.in
  ${PROJECT_BINARY_DIR}/trireme-config.cmake INSTALL_DESTINATION ${package_folder})
# trireme-config-version.cmake is made by cmake/version.cmake.
install(FILES ${PROJECT_BINARY_DIR}/trireme-config.cmake ${PROJECT_BINARY_DIR}/trireme-config-version.cmake
  ${PROJECT_SOURCE_DIR}/cmake/dependencies.cmake DESTINATION ${package_folder})

install(TARGETS trireme)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/peers DESTINATION ${CMAKE_INSTALL_DATADIR}/trireme
  FILES_MATCHING PATTERN "*.py" PATTERN mpi EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The program writes its own man pages and completions.
set(TRIREME_ZSH_FOLDER ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING "Where zsh looks for completions")
set(manual ${PROJECT_BINARY_DIR}/manual)
install(CODE "
  file(REMOVE_RECURSE ${manual})
  execute_process(COMMAND ${PROJECT_BINARY_DIR}/trireme manual ${manual} COMMAND_ERROR_IS_FATAL ANY)")
install(DIRECTORY ${manual}/man1/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${manual}/bash/trireme DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${manual}/zsh/_trireme DESTINATION ${TRIREME_ZSH_FOLDER})
