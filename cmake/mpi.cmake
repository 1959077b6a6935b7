# The transport `mpi`, where an MPI is installed: a module that the program loads when it is asked for (so nothing else
# depends on MPI), and the program behind `trireme bench collective --peer mpi`. Both lie beside the program; installed,
# in lib/trireme.
set_source_files_properties(src/base/system/beside_program.cpp PROPERTIES
  COMPILE_DEFINITIONS TRIREME_LIBRARY_FOLDER="${CMAKE_INSTALL_LIBDIR}")

set(MPI_CXX_SKIP_MPICXX ON)  # the C interface is what we use
find_package(MPI QUIET COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)
  message(STATUS "Open MPI (libopenmpi-dev) is not installed: the transport mpi is left out")
  return()
endif()

add_library(trireme_mpi MODULE src/comm/transport/mpi/module/module.cpp)
target_link_libraries(trireme_mpi PRIVATE trireme_flags MPI::MPI_CXX)
set_target_properties(trireme_mpi PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

add_executable(trireme_mpi_peer peers/mpi/collective.cpp)
target_link_libraries(trireme_mpi_peer PRIVATE trireme_flags MPI::MPI_CXX nlohmann_json::nlohmann_json)

add_dependencies(trireme trireme_mpi trireme_mpi_peer)
install(TARGETS trireme_mpi trireme_mpi_peer
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/trireme RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/trireme)
