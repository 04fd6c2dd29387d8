# How every target of the project is declared: one warning set, one standard, explicit sources.
add_library(tandem_build INTERFACE)
target_compile_features(tandem_build INTERFACE cxx_std_20)
target_include_directories(tandem_build INTERFACE ${PROJECT_SOURCE_DIR})
target_link_libraries(tandem_build INTERFACE Boost::headers)
target_compile_options(tandem_build INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual>
  $<$<AND:$<BOOL:${TANDEM_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>)
# g++ compiles a tenth faster where it collects unused memory from 400 MB on alone, and takes 150 MB more.
target_compile_options(tandem_build INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=400000>)
if(TANDEM_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TANDEM_FUZZ=ON needs clang: use the preset fuzz, or pass -DCMAKE_CXX_COMPILER=clang++")
  endif()
  target_compile_options(tandem_build INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(TANDEM_SANITIZE STREQUAL "thread")
  target_compile_options(tandem_build INTERFACE -fsanitize=thread)
  target_link_options(tandem_build INTERFACE -fsanitize=thread)
elseif(TANDEM_SANITIZE STREQUAL "address")
  target_compile_options(tandem_build INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all)
  target_link_options(tandem_build INTERFACE -fsanitize=address,undefined)
elseif(TANDEM_SANITIZE)
  message(FATAL_ERROR "TANDEM_SANITIZE is '${TANDEM_SANITIZE}': use address or thread, or leave it empty")
endif()

# Most of a small file's compilation is that of the headers it includes: with TANDEM_UNITY files of a target share
# them. This is the default of every target declared below; CMake keeps files with options of their own apart.
set(CMAKE_UNITY_BUILD ${TANDEM_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)
# g++ takes classes of a file that another one includes for a header's, which two units might disagree about.
if(TANDEM_UNITY)
  target_compile_options(tandem_build INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endif()

# tandem_compile_alone(a.cc ...): files that stay out of the units of TANDEM_UNITY.
function(tandem_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# tandem_add_library(NAME SOURCES a.cc b.cc HEADERS a.h b.h [DEPENDS tandem::x ...] [PRIVATE_DEPENDS y ...])
# makes tandem_NAME with the alias tandem::NAME. Headers and sources are named for the self-containment test.
function(tandem_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;HEADERS;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  if(ARG_SOURCES)
    add_library(tandem_${name} STATIC ${ARG_SOURCES})
    set_target_properties(tandem_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(tandem_${name} PUBLIC tandem_build ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS})
    # Loops over values, which take most of a test's time without optimisation.
    if(TANDEM_QUICK_TESTS AND name MATCHES "^(base|comm|kernels|model|optim|simulate|simulated_time|stats|tensor)$")
      target_compile_options(tandem_${name} PRIVATE -O1)
    endif()
    set(scope PUBLIC)
  else()
    add_library(tandem_${name} INTERFACE)
    target_link_libraries(tandem_${name} INTERFACE tandem_build ${ARG_DEPENDS})
    set(scope INTERFACE)
  endif()
  target_sources(tandem_${name} ${scope}
    FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${ARG_HEADERS})
  list(TRANSFORM ARG_HEADERS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE paths)
  set_property(GLOBAL APPEND PROPERTY TANDEM_HEADERS ${paths})
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE paths)
  set_property(GLOBAL APPEND PROPERTY TANDEM_SOURCES ${paths})
  add_library(tandem::${name} ALIAS tandem_${name})
endfunction()

# What reads words and writes files, and is in no figure: optimised less, it compiles in two thirds of the
# time, which is what everybody waits for first.
function(tandem_compile_lightly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# tandem_add_program(NAME SOURCES a.cc DEPENDS tandem::x ...): an executable in the build tree's bin/.
function(tandem_add_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tandem_build ${ARG_DEPENDS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()
