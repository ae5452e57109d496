/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * HTP for compilers that are not written in C++: read an ONNX model into an
 * MlirModule, find out which nn.Module each op came from, cut it into
 * functions, and write it. It stands on MLIR's own C API (mlir-c).
 *
 * What goes wrong is a diagnostic of the context
 * (mlirContextAttachDiagnosticHandler); the functions then return a null module
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

/** Makes HTP's passes and pipelines known by name, for
 * mlirParsePassPipeline and mlirOpPassManagerAddPipeline. */
MLIR_CAPI_EXPORTED void htpRegisterAllPasses(void);

/** Reads a model: ONNX, MLIR text or MLIR bytecode. Tags that the file has are
 * attributes then. The caller owns the module; null where it cannot be read. */
MLIR_CAPI_EXPORTED MlirModule htpImportFile(MlirContext context,
                                            MlirStringRef path);

/** The same for a serialized ONNX model. `path` is for messages, and says in
 * which folder external data lies; it may be empty. */
MLIR_CAPI_EXPORTED MlirModule htpImportBytes(MlirContext context,
                                             MlirStringRef bytes,
                                             MlirStringRef path);

/** What --htp-tag takes. All zero is all defaults. */
typedef struct HtpTagOptions {
  MlirStringRef trace; /**< trace.json, .pt or .pt2 */
  MlirStringRef
      reference;        /**< the same model, tagged before it was optimized */
  MlirStringRef policy; /**< rules for conflicts: a JSON file */
  MlirStringRef overrides; /**< modules of nodes: a JSON file */
  bool force; /**< go on where trace or reference are of another model */
} HtpTagOptions;

/** Tags every op with the module that it came from. */
MLIR_CAPI_EXPORTED MlirLogicalResult htpTag(MlirModule module,
                                            HtpTagOptions options);

/** What --htp-outline takes. All zero is all defaults. */
typedef struct HtpOutlineOptions {
  intptr_t numClasses;
  const MlirStringRef *classes; /**< only modules of these classes */
  intptr_t numModules;
  const MlirStringRef *modules; /**< only these: paths, tags, patterns */
  bool apart; /**< a function for each call, also where they are equal */
} HtpOutlineOptions;

/** Makes a function of each module; equal ones share one. */
MLIR_CAPI_EXPORTED MlirLogicalResult htpOutline(MlirModule module,
                                                HtpOutlineOptions options);

/** The inverse: a flat model again. */
MLIR_CAPI_EXPORTED MlirLogicalResult htpInline(MlirModule module);

/** Writes an ONNX model with its tags: the whole file or none. Data files that
 * the model refers to must lie beside it already. */
MLIR_CAPI_EXPORTED MlirLogicalResult htpExportFile(MlirModule module,
                                                   MlirStringRef path);

/** The same in memory: `callback` gets the bytes, in one or more pieces. */
MLIR_CAPI_EXPORTED MlirLogicalResult htpExportBytes(MlirModule module,
                                                    MlirStringCallback callback,
                                                    void *userData);

/** The path of the module that `op` came from, seen from the root also in an
 * outlined function; a null string where it has no tag. It lives as long as the
 * context. */
MLIR_CAPI_EXPORTED MlirStringRef htpOperationGetModulePath(MlirOperation op);

#ifdef __cplusplus
}
#endif

#endif /* HTP_C_HTP_H */
