# `pip install .`: the native programs inside a wheel. pip builds in an
# environment of its own, where neither LibTorch nor ONNX's C++ library is: both
# come from where `make setup` put them, and so does the old system that the
# portable wheel is linked for. Of an archive of sources, which pip unpacks
# where no .venv is, LibTorch comes from the Python that builds it
# (`pip install --no-build-isolation`).

set(root "${CMAKE_CURRENT_SOURCE_DIR}")
set(python "${root}/.venv/bin/python")
execute_process(
  COMMAND bash -c "source scripts/env.sh && printf '%s;%s;%s' \"$HTP_ONNX_ROOT\" \"$HTP_SYSROOT\" \"$HTP_COMPILER_LAUNCHER\""
  WORKING_DIRECTORY "${root}" OUTPUT_VARIABLE environment COMMAND_ERROR_IS_FATAL ANY)
list(GET environment 0 onnx)
list(GET environment 1 HTP_SYSROOT)
list(GET environment 2 launcher)
set(missing)
if(NOT EXISTS "/usr/lib/llvm-22/lib/cmake/mlir/MLIRConfig.cmake")
  list(APPEND missing "LLVM and MLIR 22")
endif()
if(NOT EXISTS "${python}")
  set(python "${Python3_EXECUTABLE}")
  if(NOT python)
    set(python "${PYTHON_EXECUTABLE}")
  endif()
  execute_process(COMMAND "${python}" -c "import torch" RESULT_VARIABLE without_torch
    OUTPUT_QUIET ERROR_QUIET)
  if(NOT without_torch EQUAL 0)
    list(APPEND missing "LibTorch (a .venv with PyTorch)")
  endif()
endif()
if(NOT EXISTS "${onnx}/lib/cmake/ONNX/ONNXConfig.cmake")
  list(APPEND missing "ONNX's C++ library")
endif()
if(HTP_PORTABLE AND NOT EXISTS "${HTP_SYSROOT}/lib")
  list(APPEND missing "Debian 11's C library")
endif()
if(missing)
  list(JOIN missing ", " missing)
  message(FATAL_ERROR "HTP is built with what is not here: ${missing}. "
                      "Run 'make setup' in the folder of sources first, then 'pip install .' "
                      "there; or, where only LibTorch is missing, install torch==2.13.0 and "
                      "add --no-build-isolation")
endif()
set(Python3_EXECUTABLE "${python}" CACHE FILEPATH "The Python that has torch" FORCE)
# As in scripts/env.sh: what a build in any other folder has compiled is not compiled again.
if(launcher)
  list(PREPEND launcher "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${root}" CCACHE_NOHASHDIR=1)
endif()
set(CMAKE_CXX_COMPILER_LAUNCHER "${launcher}" CACHE STRING "" FORCE)
# scikit-build-core puts its own paths in place of the preset's.
list(APPEND CMAKE_PREFIX_PATH "/usr/lib/llvm-22" "${onnx}")

# The wheel `htp` has the programs in htp/bin; LibTorch lies in torch/lib beside
# htp. The portable one (`make wheel`) leaves htp-opt, which needs all of MLIR,
# to the wheel `htp-mlir`.
function(htp_install_wheel)
  if(SKBUILD_PROJECT_NAME MATCHES "^htp.mlir$")
    install(TARGETS htp-opt HTPPlugin
      RUNTIME DESTINATION bin COMPONENT python LIBRARY DESTINATION lib COMPONENT python)
    return()
  endif()
  set_target_properties(htp-trace PROPERTIES
    INSTALL_RPATH "$ORIGIN/../../torch/lib" INSTALL_RPATH_USE_LINK_PATH OFF)
  install(TARGETS htp-onnx htp-trace RUNTIME DESTINATION bin COMPONENT python)
  install(FILES "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/htp-trace.torch" DESTINATION bin COMPONENT python)
  if(NOT HTP_PORTABLE)
    install(TARGETS htp-opt RUNTIME DESTINATION bin COMPONENT python)
  endif()
endfunction()
