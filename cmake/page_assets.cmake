# Makes a .cpp of the page's files (src/watch/page/serve/page_assets.h), so that the program needs none of them when it runs:
#   cmake -DTO=FILE.cpp "-DFILES=a;b;..." -P page_assets.cmake
# Included, it adds that .cpp to the part `watch`.
if(CMAKE_SCRIPT_MODE_FILE)
  set(rows "")
  set(code "#include \"watch/page/serve/page_assets.h\"\n\n#include <array>\n\nnamespace trireme::watch {\nnamespace {\n\n"
    "using namespace std::string_view_literals;\n\n")
  foreach(file IN LISTS FILES)
    get_filename_component(name ${file} NAME)
    string(APPEND rows "    PageAsset{\"${name}\", R\"page~asset(")
    file(READ ${file} text)
    if(text MATCHES "page~asset")
      message(FATAL_ERROR "${file} has the words that end a file here")
    endif()
    string(APPEND rows "${text}")
    string(APPEND rows ")page~asset\"sv},\n")
  endforeach()
  list(LENGTH FILES count)
  string(APPEND code "constexpr std::array<PageAsset, ${count}> kAssets{\n${rows}};\n\n}  // namespace\n\n"
    "std::span<const PageAsset> page_assets() { return kAssets; }\n\n}  // namespace trireme::watch\n")
  file(WRITE ${TO} "${code}")
  return()
endif()

find_file(TRIREME_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist NO_DEFAULT_PATH)
mark_as_advanced(TRIREME_CHART_JS)
if(NOT TRIREME_CHART_JS)
  message(FATAL_ERROR "chart.min.js was not found; install the package libjs-chart.js")
endif()
file(GLOB_RECURSE page_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/watch/page/assets/*.*)
list(APPEND page_files ${TRIREME_CHART_JS})
set(page_assets ${PROJECT_BINARY_DIR}/page_assets.cpp)
add_custom_command(OUTPUT ${page_assets}
  COMMAND ${CMAKE_COMMAND} -DTO=${page_assets} "-DFILES=${page_files}" -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${page_files} ${CMAKE_CURRENT_LIST_FILE}
  COMMENT "Embedding the page" VERBATIM)
target_sources(trireme_watch PRIVATE ${page_assets})
