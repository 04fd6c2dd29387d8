# Enables the CUDA language with the compiler of the toolkit that was found, and says in
# TANDEM_HAVE_CUDA_LANGUAGE whether that worked.
set(TANDEM_HAVE_CUDA_LANGUAGE OFF)
# The toolkit's folder is often not on PATH.
if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND EXISTS "${CUDAToolkit_NVCC_EXECUTABLE}")
  set(ENV{CUDACXX} ${CUDAToolkit_NVCC_EXECUTABLE})
endif()
include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  enable_language(CUDA)
  set(TANDEM_HAVE_CUDA_LANGUAGE ON)
else()
  unset(CMAKE_CUDA_COMPILER CACHE)  # looked for again next time
endif()

# What a GPU node of the last years has; newer ones compile the last one's PTX when first used. V100s (7.0) ended with
# CUDA 12, whose last compilers warn of that.
set(tandem_architectures 75-real 80-real)
if(CUDAToolkit_VERSION VERSION_LESS 13)
  list(PREPEND tandem_architectures 70-real)
endif()
if(CUDAToolkit_VERSION VERSION_GREATER_EQUAL 12.8)
  list(APPEND tandem_architectures 90-real 100)
else()
  list(APPEND tandem_architectures 90)
endif()
set(TANDEM_CUDA_ARCHITECTURES "${tandem_architectures}" CACHE STRING
  "GPU architectures to build kernels for, as CMake's CUDA_ARCHITECTURES has them.")

# tandem_add_kernels(NAME a.cu b.cu ...): an object library of device code. CMake 3.25 does not know
# that nvcc has C++20, so that the standard is passed by hand.
#   --expt-relaxed-constexpr  constexpr functions, such as the random numbers', run in kernels too
function(tandem_add_kernels name)
  add_library(${name} OBJECT ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${name} PRIVATE -std=c++20 --expt-relaxed-constexpr
    -Wno-deprecated-gpu-targets -Xcompiler=-Wall,-Wextra,-Wshadow)
  if(TANDEM_WERROR)
    target_compile_options(${name} PRIVATE -Werror=all-warnings -Xcompiler=-Werror)
  endif()
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF
    CUDA_ARCHITECTURES "${TANDEM_CUDA_ARCHITECTURES}" CUDA_RUNTIME_LIBRARY None
    POSITION_INDEPENDENT_CODE ON CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()
