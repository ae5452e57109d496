# How HTP's libraries and programs are declared. They link the shared libMLIR
# and libLLVM, unless a program says ARCHIVES; LLVM is built with RTTI and
# without exceptions, so exceptions are on only where protobuf, ONNX or LibTorch
# need them.

include(GNUInstallDirs)

function(htp_compile_options target exceptions)
  target_include_directories(${target}
    PUBLIC
      "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
      "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>"
      "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_include_directories(${target} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wno-unused-parameter $<$<BOOL:${HTP_WERROR}>:-Werror>
    $<$<NOT:$<BOOL:${exceptions}>>:-fno-exceptions>)
endfunction()

# htp_add_library(NAME source... [EXCEPTIONS] [DEPENDS target...] [LINK_LIBS library...])
function(htp_add_library name)
  cmake_parse_arguments(ARG "EXCEPTIONS" "" "DEPENDS;LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(HTP::${name} ALIAS ${name})
  htp_compile_options(${name} "${ARG_EXCEPTIONS}")
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  # The program that links the library decides.
  foreach(shared MLIR LLVM)
    list(APPEND ARG_LINK_LIBS "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:HTP_ARCHIVES>>>:${shared}>")
  endforeach()
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
  install(TARGETS ${name} EXPORT HTPTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# What HTP itself uses of MLIR and LLVM, users before what they use. Named by
# file, because as targets they ask for the shared libLLVM.
set(HTP_LLVM_ARCHIVES
  MLIROptLib MLIRDebug MLIRObservers MLIRPluginsLib MLIRRemarkStreamer MLIRIRDL MLIRParser
  MLIRAsmParser MLIRBytecodeReader MLIRBytecodeWriter MLIRBytecodeOpInterface MLIRFuncDialect
  MLIRCallInterfaces MLIRControlFlowInterfaces MLIRFunctionInterfaces MLIRInferTypeOpInterface
  MLIRSideEffectInterfaces MLIRPass MLIRIR MLIRSupport
  LLVMRemarks LLVMBitstreamReader LLVMSupport LLVMDemangle)
list(TRANSFORM HTP_LLVM_ARCHIVES REPLACE "(.+)" "$<TARGET_FILE:\\1>")

# Where HTP_PORTABLE is on, a program that links archives alone runs with any
# glibc from 2.31 on: it is linked with Debian 11's (HTP_SYSROOT, which
# cmake/HTPWheel.cmake knows), and brings what only younger ones have.
function(htp_make_portable target)
  if(HTP_PORTABLE)
    set(portable "${PROJECT_SOURCE_DIR}/lib/Support/Portable")
    target_sources(${target} PRIVATE "${portable}/arc4random.c" "${portable}/single_threaded.c")
    # In a sysroot, clang looks for GCC's own files there, too.
    execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=libstdc++.a
      OUTPUT_VARIABLE libstdcxx OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    get_filename_component(gcc "${libstdcxx}" DIRECTORY)
    target_link_options(${target} PRIVATE
      -Wl,--strip-all "--sysroot=${HTP_SYSROOT}" "--gcc-install-dir=${gcc}")
    # Libraries of their own before glibc 2.34.
    target_link_libraries(${target} PRIVATE pthread dl m)
  endif()
endfunction()

# The program's memory comes from jemalloc, where it is there: see
# lib/Support/Allocator. Sanitizers bring an allocator of their own.
function(htp_use_jemalloc target)
  if(HTP_JEMALLOC)
    target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/lib/Support/Allocator/jemalloc.c")
    target_link_libraries(${target} PRIVATE "${HTP_JEMALLOC}" Threads::Threads ${CMAKE_DL_LIBS} m)
  endif()
endfunction()

# htp_add_tool(NAME source... [ARCHIVES] [EXCEPTIONS] [LINK_LIBS library...])
function(htp_add_tool name)
  cmake_parse_arguments(ARG "ARCHIVES;EXCEPTIONS" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  htp_compile_options(${name} "${ARG_EXCEPTIONS}")
  if(ARG_ARCHIVES)
    set_target_properties(${name} PROPERTIES HTP_ARCHIVES ON)
    target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} ${HTP_LLVM_ARCHIVES})
    # Not -static-libgcc: GCC 12's unwinder asks for glibc 2.35, and every system has libgcc_s.
    target_link_options(${name} PRIVATE -Wl,--gc-sections $<$<BOOL:${HTP_PORTABLE}>:-static-libstdc++>)
    htp_make_portable(${name})
  else()
    target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} MLIR LLVM)
  endif()
  # Installed, it finds the LLVM that it was linked with.
  if(NOT HTP_PORTABLE)
    set_target_properties(${name} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  endif()
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# htp_tablegen(FILE.td TARGET FLAG OUTPUT [FLAG OUTPUT]...): the generated
# headers of one .td file, in the build tree beside where the file lies.
function(htp_tablegen td target)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(arguments ${ARGN})
  while(arguments)
    list(POP_FRONT arguments flag output)
    separate_arguments(flags NATIVE_COMMAND "${flag}")
    mlir_tablegen(${output} ${flags} "-I${PROJECT_SOURCE_DIR}/include"
                  "-I${MLIR_INCLUDE_DIRS}")
  endwhile()
  add_public_tablegen_target(${target})
endfunction()
