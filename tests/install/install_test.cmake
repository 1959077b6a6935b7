# Installs the build into a prefix with one file of somebody else's, configures and builds an example against the
# installed package alone, runs EXAMPLE.sh beside this file on it, asks the installed program for its version, and
# uninstalls: that file alone is left. Arguments: BUILD, EXAMPLE, WORK (emptied first), GENERATOR.

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed (${result}): ${command}")
  endif()
endfunction()

set(script ${CMAKE_CURRENT_LIST_DIR}/../../scripts/prefix.sh)
file(REMOVE_RECURSE ${WORK})
file(WRITE ${WORK}/prefix/share/man/theirs "")
run(${script} install ${BUILD} ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${EXAMPLE} -B ${WORK}/build -G ${GENERATOR}
    -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${WORK}/build)

# The example's one program lies in its build folder.
file(GLOB files ${WORK}/build/*)
set(programs "")
foreach(file ${files})
  execute_process(COMMAND test -f ${file} -a -x ${file} RESULT_VARIABLE not_program)
  if(NOT not_program)
    list(APPEND programs ${file})
  endif()
endforeach()
list(LENGTH programs count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "expected one program in ${WORK}/build, found: ${programs}")
endif()
get_filename_component(name ${EXAMPLE} NAME)
file(MAKE_DIRECTORY ${WORK}/runs)
run(${CMAKE_COMMAND} -E chdir ${WORK}/runs
    bash -euo pipefail ${CMAKE_CURRENT_LIST_DIR}/${name}.sh ${programs} ${WORK}/prefix/bin/trireme)

# No other header is installed than the public ones and what they include.
set(source ${CMAKE_CURRENT_LIST_DIR}/../..)
file(STRINGS ${source}/cmake/public_headers.txt expected)
list(TRANSFORM expected PREPEND internal/)
file(GLOB public RELATIVE ${source}/include/trireme ${source}/include/trireme/*.h)
list(APPEND expected ${public})
file(GLOB_RECURSE installed RELATIVE ${WORK}/prefix/include/trireme ${WORK}/prefix/include/*)
list(SORT expected)
list(SORT installed)
if(NOT installed STREQUAL expected)
  message(FATAL_ERROR "installed are the headers ${installed}, expected: ${expected}")
endif()
run(${WORK}/prefix/bin/trireme --version)
if(NOT EXISTS ${WORK}/prefix/share/trireme/peers/pytorch/step.py)
  message(FATAL_ERROR "the scripts for peers are not installed")
endif()
foreach(file man/man1/trireme.1 man/man1/trireme-train.1 bash-completion/completions/trireme
        zsh/site-functions/_trireme)
  if(NOT EXISTS ${WORK}/prefix/share/${file})
    message(FATAL_ERROR "share/${file} is not installed")
  endif()
endforeach()

# A prefix into which nothing was installed is refused; twice installed is uninstalled once.
execute_process(COMMAND ${script} uninstall ${BUILD} ${WORK}/other RESULT_VARIABLE result ERROR_VARIABLE said)
if(result EQUAL 0 OR NOT said MATCHES "PREFIX=${WORK}/prefix")
  message(FATAL_ERROR "uninstalling from another prefix ended with ${result}: ${said}")
endif()
run(${script} install ${BUILD} ${WORK}/prefix)
run(${script} uninstall ${BUILD} ${WORK}/prefix)
file(GLOB_RECURSE left LIST_DIRECTORIES true RELATIVE ${WORK}/prefix ${WORK}/prefix/*)
if(NOT left STREQUAL "share;share/man;share/man/theirs")
  message(FATAL_ERROR "uninstalling left: ${left}")
endif()
file(REMOVE_RECURSE ${WORK})
