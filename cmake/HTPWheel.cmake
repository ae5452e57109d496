# `pip install .`: the native programs inside a wheel. pip builds in an
# environment of its own, where neither LibTorch nor ONNX's C++ library is: both
# come from where `make setup` put them.

set(python "${PROJECT_SOURCE_DIR}/.venv/bin/python")
execute_process(
  COMMAND bash -c "source scripts/env.sh && printf '%s;%s' \"$HTP_ONNX_ROOT\" \"$HTP_COMPILER_LAUNCHER\""
  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
  OUTPUT_VARIABLE environment COMMAND_ERROR_IS_FATAL ANY)
list(GET environment 0 onnx)
list(GET environment 1 launcher)
if(NOT EXISTS "${python}" OR NOT EXISTS "${onnx}/lib")
  message(FATAL_ERROR "HTP is built with LLVM 22, LibTorch and ONNX's C++ library, "
                      "which are not all here: run 'make setup' first, then 'pip install .' again")
endif()
set(Python3_EXECUTABLE "${python}" CACHE FILEPATH "The Python that has torch" FORCE)
set(CMAKE_CXX_COMPILER_LAUNCHER "${launcher}" CACHE STRING "" FORCE)
# scikit-build-core puts its own paths in place of the preset's.
list(APPEND CMAKE_PREFIX_PATH "/usr/lib/llvm-22" "${onnx}")

# The programs lie in htp/bin, LibTorch in torch/lib beside htp.
function(htp_install_wheel)
  set_target_properties(htp-trace PROPERTIES INSTALL_RPATH "$ORIGIN/../../torch/lib")
  set_target_properties(htp-opt PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS htp-opt htp-trace RUNTIME DESTINATION bin COMPONENT python)
endfunction()
