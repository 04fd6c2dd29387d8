# SPDX-License-Identifier: Apache-2.0
#
# Read by ctest each time it starts: adds a test per suite of one GoogleTest program. A process per case
# took a quarter of the time of a whole run. Set by who includes it: test_program (a path), test_name,
# test_labels, test_timeout (seconds). A program that is not built is a test without a label that does
# not run, so that it is not missed among all tests, and in the way of no choice by label.
if(NOT EXISTS "${test_program}")
  add_test("${test_name}_NOT_BUILT" "${test_name}_NOT_BUILT")
  return()
endif()

set(test_list "${test_program}.suites")
if("${test_program}" IS_NEWER_THAN "${test_list}")
  execute_process(COMMAND "${test_program}" --gtest_list_tests TIMEOUT 60
    OUTPUT_VARIABLE listed ERROR_VARIABLE listed RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${test_program} --gtest_list_tests ended with ${status}:\n${listed}")
  endif()
  # Suites stand at the start of a line and end in a dot; of typed ones a comment follows.
  string(REGEX MATCHALL "(^|\n)[A-Za-z0-9_/]+\\.( |\n|$)" suites "${listed}")
  list(TRANSFORM suites REPLACE "[^A-Za-z0-9_/]" "")
  if(NOT suites)
    message(FATAL_ERROR "${test_program} has no tests:\n${listed}")
  endif()
  file(WRITE "${test_list}" "${suites}")
endif()

file(READ "${test_list}" suites)
foreach(suite IN LISTS suites)
  add_test("${test_name}.${suite}" "${test_program}" "--gtest_filter=${suite}.*" --tell-skips)
  set_tests_properties("${test_name}.${suite}" PROPERTIES
    LABELS "${test_labels}" TIMEOUT "${test_timeout}" SKIP_RETURN_CODE 77)
endforeach()
