# `cmake --install`: headers, libraries and what find_package(HTP) needs. The
# tree can be moved: every path in it is relative to where the package lies.

include(CMakePackageConfigHelpers)
set(HTP_INSTALL_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/HTP")

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/HTP" "${PROJECT_SOURCE_DIR}/include/HTP-c"
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.pdll")
install(DIRECTORY "${PROJECT_BINARY_DIR}/include/HTP"
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.inc" PATTERN "CMakeFiles" EXCLUDE)

# ONNX has no package on most systems: the one HTP was built with comes along,
# so that HTP's importer and exporter link anywhere.
get_filename_component(onnx_root "${ONNX_DIR}/../../.." ABSOLUTE)
install(DIRECTORY "${onnx_root}/include/onnx" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY "${onnx_root}/lib/" DESTINATION ${CMAKE_INSTALL_LIBDIR}
        FILES_MATCHING PATTERN "libonnx*" PATTERN "ONNX*.cmake")

install(EXPORT HTPTargets NAMESPACE HTP:: DESTINATION ${HTP_INSTALL_CMAKEDIR})
configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/HTPConfig.cmake.in" "${PROJECT_BINARY_DIR}/HTPConfig.cmake"
  INSTALL_DESTINATION ${HTP_INSTALL_CMAKEDIR})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/HTPConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/HTPConfig.cmake" "${PROJECT_BINARY_DIR}/HTPConfigVersion.cmake"
        DESTINATION ${HTP_INSTALL_CMAKEDIR})
