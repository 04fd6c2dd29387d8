# Everything from the system's package manager; tools/install-deps installs it on Debian and Ubuntu.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost 1.74 CONFIG REQUIRED)  # headers alone
find_package(benchmark REQUIRED)
# oneDNN's thread count is OpenMP's, set per stream worker. By hand: CMake's module finds the runtime of the compiler,
# which with clang is another one than oneDNN's (common/runtime/host/openmp_threads.h).
find_library(GOMP_LIBRARY NAMES libgomp.so.1 REQUIRED)
add_library(tandem_openmp INTERFACE)
target_link_libraries(tandem_openmp INTERFACE ${GOMP_LIBRARY})

# Only MPI's C interface is used; the C++ bindings are not even warning-clean.
find_package(MPI REQUIRED COMPONENTS C)
add_library(tandem_mpi INTERFACE)
target_link_libraries(tandem_mpi INTERFACE MPI::MPI_C)
target_compile_definitions(tandem_mpi INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)

# By hand: Debian's package configuration of oneDNN asks for OpenCL, which nothing here uses.
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)
add_library(tandem_dnnl INTERFACE)
target_include_directories(tandem_dnnl SYSTEM INTERFACE ${DNNL_INCLUDE_DIR})
target_link_libraries(tandem_dnnl INTERFACE ${DNNL_LIBRARY} tandem_openmp)

find_path(HWLOC_INCLUDE_DIR hwloc.h REQUIRED)
find_library(HWLOC_LIBRARY hwloc REQUIRED)
add_library(tandem_hwloc INTERFACE)
target_include_directories(tandem_hwloc SYSTEM INTERFACE ${HWLOC_INCLUDE_DIR})
target_link_libraries(tandem_hwloc INTERFACE ${HWLOC_LIBRARY})

if(TANDEM_TESTS AND NOT TANDEM_FUZZ)
  find_package(GTest REQUIRED)
endif()

set(TANDEM_HAVE_CUDA OFF)
if(NOT TANDEM_CUDA STREQUAL "OFF")
  # CMake 3.25.1's module sets a property of CUDA::nvToolsExt unasked, and fails where the toolkit no
  # longer has that library (13). It does so only for projects that require 3.25.
  set(required_version ${CMAKE_MINIMUM_REQUIRED_VERSION})
  set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
  find_package(CUDAToolkit 12 QUIET)
  set(CMAKE_MINIMUM_REQUIRED_VERSION ${required_version})
  set(missing "no CUDA toolkit 12 or newer was found")
  if(CUDAToolkit_FOUND)
    include(cmake/CudaLanguage.cmake)
    set(TANDEM_HAVE_CUDA ${TANDEM_HAVE_CUDA_LANGUAGE})
    set(missing "the CUDA toolkit in ${CUDAToolkit_BIN_DIR} has no working nvcc (see CMakeFiles/CMakeError.log)")
    if(TANDEM_HAVE_CUDA AND NOT TARGET CUDA::cublasLt)
      set(TANDEM_HAVE_CUDA OFF)
      set(missing "the CUDA toolkit in ${CUDAToolkit_BIN_DIR} has no cuBLASLt")
    endif()
  endif()
  if(NOT TANDEM_HAVE_CUDA AND TANDEM_CUDA STREQUAL "ON")
    message(FATAL_ERROR "TANDEM_CUDA=ON, but ${missing}: install it or pass -DTANDEM_CUDA=AUTO")
  elseif(NOT TANDEM_HAVE_CUDA)
    message(STATUS "No CUDA module: ${missing}")
  endif()
endif()
set(TANDEM_CUDA_VERSION "${CUDAToolkit_VERSION}" CACHE INTERNAL "Of the toolkit that the CUDA module is built with; tools/bundle reads it.")
message(STATUS "CUDA module: ${TANDEM_HAVE_CUDA}")

# tandem_find_header(NAME HEADER LIBRARY WHAT): NAME_INCLUDE_DIR, NAME_LIBRARY, and TANDEM_HAVE_NAME by the header alone, since
# the library is loaded at run time, where a node has it. The toolkit's folder first: its headers are found there whatever
# comes later.
function(tandem_find_header name header library what)
  set(found OFF)
  if(TANDEM_HAVE_CUDA)
    find_path(${name}_INCLUDE_DIR ${header} HINTS ${CUDAToolkit_INCLUDE_DIRS})
    find_library(${name}_LIBRARY NAMES ${library} HINTS ${CUDAToolkit_LIBRARY_DIR})
    if(${name}_INCLUDE_DIR)
      set(found ON)
    endif()
  endif()
  set(TANDEM_HAVE_${name} ${found} PARENT_SCOPE)
  message(STATUS "${what}: ${found}")
endfunction()
tandem_find_header(NCCL nccl.h libnccl.so.2 "NCCL communicator")
tandem_find_header(CUDNN cudnn_graph.h libcudnn.so.9 "Convolutions of cuDNN") # a header of version 9 and newer

# CUPTI's header alone, likewise; with the records that common/trace/cupti_session.cc reads.
set(TANDEM_HAVE_CUPTI OFF)
set(missing "no CUDA module is built")
if(TANDEM_HAVE_CUDA)
  find_path(CUPTI_INCLUDE_DIR cupti.h HINTS ${CUDAToolkit_INCLUDE_DIRS}
    PATHS ${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI/include /usr/local/cuda/extras/CUPTI/include)
  set(missing "no cupti.h was found")
  if(CUPTI_INCLUDE_DIR)
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_INCLUDES ${CUPTI_INCLUDE_DIR} ${CUDAToolkit_INCLUDE_DIRS})
    check_cxx_source_compiles("#include <cupti.h>
      CUpti_ActivityKernel9 a; CUpti_ActivityMemcpy5 b; CUpti_ActivityMemcpyPtoP4 c; CUpti_ActivityMemset4 d;
      int main() { return static_cast<int>(a.graphNodeId + b.bytes + c.bytes + d.bytes); }" TANDEM_CUPTI_HAS_RECORDS)
    unset(CMAKE_REQUIRED_INCLUDES)
    set(missing "${CUPTI_INCLUDE_DIR}/cupti.h has not the records of CUDA 12 and newer")
    set(TANDEM_HAVE_CUPTI ${TANDEM_CUPTI_HAS_RECORDS})
  endif()
endif()
if(TANDEM_HAVE_CUPTI)
  add_library(tandem_cupti INTERFACE)
  target_include_directories(tandem_cupti SYSTEM INTERFACE ${CUPTI_INCLUDE_DIR} ${CUDAToolkit_INCLUDE_DIRS})
  target_link_libraries(tandem_cupti INTERFACE ${CMAKE_DL_LIBS})
  message(STATUS "Timelines by CUPTI: ON")
else()
  message(STATUS "Timelines by CUPTI: OFF (${missing}: those of GPUs are of events alone)")
endif()

# NVTX's headers alone, of the toolkit or of their own: a tool that watches brings the rest. Those of CUDA
# beside them, which name its streams.
set(TANDEM_HAVE_NVTX OFF)
find_path(NVTX_INCLUDE_DIR nvtx3/nvToolsExt.h HINTS ${CUDAToolkit_INCLUDE_DIRS} PATHS /usr/local/cuda/include)
find_path(NVTX_CUDA_INCLUDE_DIR cuda.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ${NVTX_INCLUDE_DIR})
if(NVTX_INCLUDE_DIR AND NVTX_CUDA_INCLUDE_DIR)
  set(TANDEM_HAVE_NVTX ON)
  add_library(tandem_nvtx INTERFACE)
  target_include_directories(tandem_nvtx SYSTEM INTERFACE ${NVTX_INCLUDE_DIR} ${NVTX_CUDA_INCLUDE_DIR})
  target_link_libraries(tandem_nvtx INTERFACE ${CMAKE_DL_LIBS})
  message(STATUS "NVTX ranges: ON")
else()
  message(STATUS "NVTX ranges: OFF (no nvtx3/nvToolsExt.h with a cuda.h was found: profilers will show no ranges of Tandem)")
endif()
