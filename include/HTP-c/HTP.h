/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * HTP's C API: read an ONNX model into an MlirModule, find out which nn.Module
 * each op came from, outline the modules into functions, and write the result.
 * Built on MLIR's own C API (mlir-c).
 *
 * Errors are reported as diagnostics on the context
 * (mlirContextAttachDiagnosticHandler); the function then returns a null module
 * or failure. Strings are copied.
 */

#ifndef HTP_C_HTP_H
#define HTP_C_HTP_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(HTP, htp);
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(ONNX, onnx);

/** Adds all dialects that an imported model may use. */
MLIR_CAPI_EXPORTED void htpRegisterAllDialects(MlirDialectRegistry registry);

/** Registers HTP's passes and pipelines by name, for
 * mlirParsePassPipeline and mlirOpPassManagerAddPipeline. */
MLIR_CAPI_EXPORTED void htpRegisterAllPasses(void);

/** Reads a model: ONNX, MLIR text or MLIR bytecode. Tags stored in the
 * file become attributes. The caller owns the module; null if the file cannot
 * be read. */
MLIR_CAPI_EXPORTED MlirModule htpImportFile(MlirContext context,
                                            MlirStringRef path);

/** The same for a serialized ONNX model. `path` appears in messages, and
 * its folder is searched for external data; it may be empty. */
MLIR_CAPI_EXPORTED MlirModule htpImportBytes(MlirContext context,
                                             MlirStringRef bytes,
                                             MlirStringRef path);

/** The options of --htp-tag. Zero-initialized means all defaults. */
typedef struct HtpTagOptions {
  MlirStringRef trace; /**< trace.json, .pt or .pt2 */
  MlirStringRef
      reference;        /**< the same model, tagged before it was optimized */
  MlirStringRef policy; /**< rules for conflicts: a JSON file */
  MlirStringRef overrides; /**< modules of nodes: a JSON file */
  bool force; /**< proceed even if trace or reference belong to another model */
} HtpTagOptions;

/** Tags every op with the module that it came from. */
MLIR_CAPI_EXPORTED MlirLogicalResult htpTag(MlirModule module,
                                            HtpTagOptions options);

/** The options of --htp-outline. Zero-initialized means all defaults. */
typedef struct HtpOutlineOptions {
  intptr_t numClasses;
  const MlirStringRef *classes; /**< only modules of these classes */
  intptr_t numModules;
  const MlirStringRef *modules; /**< only these: paths, tags, patterns */
  bool apart; /**< a function for each call, even if bodies are equal */
} HtpOutlineOptions;

/** Turns each module into a function; modules with equal bodies share one. */
MLIR_CAPI_EXPORTED MlirLogicalResult htpOutline(MlirModule module,
                                                HtpOutlineOptions options);

/** The inverse of htpOutline: flattens the model again. */
MLIR_CAPI_EXPORTED MlirLogicalResult htpInline(MlirModule module);

/** Writes an ONNX model with its tags, atomically: on failure there is no file.
 * External data files must already be in the target folder. */
MLIR_CAPI_EXPORTED MlirLogicalResult htpExportFile(MlirModule module,
                                                   MlirStringRef path);

/** The same in memory: `callback` receives the bytes in one or more chunks. */
MLIR_CAPI_EXPORTED MlirLogicalResult htpExportBytes(MlirModule module,
                                                    MlirStringCallback callback,
                                                    void *userData);

/** The path of the module that `op` came from, always relative to the root,
 * even inside an outlined function; a null string if the op has no tag. The
 * string lives as long as the context. */
MLIR_CAPI_EXPORTED MlirStringRef htpOperationGetModulePath(MlirOperation op);

#ifdef __cplusplus
}
#endif

#endif /* HTP_C_HTP_H */
