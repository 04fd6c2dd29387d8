# Each header compiles alone. The build shows it of a header that its own source file includes first, unless sources are
# compiled several as a unit (TANDEM_UNITY); for every other header there is a source file that includes nothing else. A
# test builds these sources, so that a failure is a test's and names the header.

# without_those_that_lead(VARIABLE): takes headers off the list that a source beside them begins with.
function(without_those_that_lead variable)
  get_property(sources GLOBAL PROPERTY TANDEM_SOURCES)
  set(kept)
  foreach(header IN LISTS ${variable})
    string(REGEX REPLACE "\\.h$" ".cc" source ${header})
    set(first)
    if(source IN_LIST sources)
      file(STRINGS ${source} first REGEX "^#" LIMIT_COUNT 1)
    endif()
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${header})
    if(NOT first STREQUAL "#include \"${path}\"")
      list(APPEND kept ${header})
    endif()
  endforeach()
  set(${variable} ${kept} PARENT_SCOPE)
endfunction()

# header_check(NAME HEADERS path...): an object library of such sources.
function(header_check name)
  cmake_parse_arguments(ARG "" "" "HEADERS" ${ARGN})
  set(sources)
  foreach(header IN LISTS ARG_HEADERS)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${header})
    string(MAKE_C_IDENTIFIER ${path} identifier)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}/${identifier}.cc)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"@path@\"\n" @ONLY)
    list(APPEND sources ${source})
  endforeach()
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${sources})
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  target_compile_options(${name} PRIVATE -O0)
  target_link_libraries(${name} PRIVATE tandem_build tandem_dnnl tandem_hwloc tandem_mpi
    fmt::fmt nlohmann_json::nlohmann_json CLI11::CLI11 benchmark::benchmark GTest::gtest)
endfunction()

# header_rule(NAME TARGET): the test that builds it.
function(header_rule name target)
  add_test(NAME project.${name} COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target ${target})
  # One at a time: two builds in one folder get in each other's way.
  set_tests_properties(project.${name} PROPERTIES LABELS project TIMEOUT 1800 RESOURCE_LOCK build_folder)
endfunction()

get_property(headers GLOBAL PROPERTY TANDEM_HEADERS)
list(REMOVE_DUPLICATES headers)
list(FILTER headers EXCLUDE REGEX "\\.cuh$")  # nvcc's alone
if(NOT TANDEM_UNITY)
  without_those_that_lead(headers)
endif()
set(cuda_headers ${headers})
list(FILTER cuda_headers INCLUDE REGEX "/cuda/")
list(FILTER headers EXCLUDE REGEX "/cuda/")

header_check(header_self_containment HEADERS ${headers})
header_rule(headers header_self_containment)
# With TANDEM_UNITY that is minutes of compiling, and presets debug and asan show most of it: tools/test --full --slow runs it.
if(TANDEM_UNITY)
  set_tests_properties(project.headers PROPERTIES LABELS "project;slow")
endif()
if(cuda_headers)
  header_check(header_self_containment_cuda HEADERS ${cuda_headers})
  target_include_directories(header_self_containment_cuda SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  header_rule(headers_cuda header_self_containment_cuda)
endif()

# A header that leans on its includer must be reported.
set(planted ${CMAKE_CURRENT_BINARY_DIR}/planted.h)
file(CONFIGURE OUTPUT ${planted} CONTENT "#pragma once\ninline std::string planted() { return {}; }\n")
header_check(header_self_containment_planted HEADERS ${planted})
target_include_directories(header_self_containment_planted PRIVATE ${PROJECT_SOURCE_DIR})
header_rule(headers_planted header_self_containment_planted)
set_tests_properties(project.headers_planted PROPERTIES PASS_REGULAR_EXPRESSION
  "planted\\.h:[0-9:]+ error: [^\n]*std")
