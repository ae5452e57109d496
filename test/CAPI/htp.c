/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A compiler in C: reads a model, tags it, outlines it, writes it, and reads
 * what it wrote.
 *
 * RUN: rm -rf %t && mkdir %t
 * RUN: htp-opt %htp_src/test/Target/Inputs/net.mlir -o %t/model.onnx
 * RUN: htp-capi-test %t/model.onnx %t/out.onnx 2>&1 | FileCheck %s
 * RUN: htp-opt %t/out.onnx | FileCheck %s --check-prefix=FILE
 * RUN: htp-opt %t/model.onnx --htp-tag --htp-outline -o %t/opt.onnx
 * RUN: cmp %t/opt.onnx %t/out.onnx
 */

#include "HTP-c/HTP.h"
#include "mlir-c/Diagnostics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MlirLogicalResult printDiagnostic(MlirDiagnostic diagnostic,
                                         void *userData);

struct Bytes {
  char *data;
  size_t size;
};

static void append(MlirStringRef piece, void *userData) {
  struct Bytes *bytes = userData;
  bytes->data = realloc(bytes->data, bytes->size + piece.length);
  memcpy(bytes->data + bytes->size, piece.data, piece.length);
  bytes->size += piece.length;
}

static void print(MlirStringRef piece, void *userData) {
  (void)userData;
  fwrite(piece.data, 1, piece.length, stderr);
}

static MlirLogicalResult printDiagnostic(MlirDiagnostic diagnostic,
                                         void *userData) {
  (void)userData;
  if (mlirDiagnosticGetSeverity(diagnostic) != MlirDiagnosticError)
    return mlirLogicalResultSuccess();
  fprintf(stderr, "error: ");
  mlirDiagnosticPrint(diagnostic, print, NULL);
  fprintf(stderr, "\n");
  return mlirLogicalResultSuccess();
}

static int functionsOf(MlirModule module) {
  int count = 0;
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    count += name.length == 9 && !memcmp(name.data, "func.func", 9);
  }
  return count;
}

/* The module of the first op that has one. */
static MlirWalkResult firstTag(MlirOperation op, void *userData) {
  MlirStringRef *path = userData;
  *path = htpOperationGetModulePath(op);
  return path->data ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

int main(int argc, char **argv) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  MlirContext context;
  MlirModule module, again;
  HtpTagOptions tag = {0};
  HtpOutlineOptions outline = {0};
  MlirStringRef wrong, path = {NULL, 0};
  struct Bytes bytes = {NULL, 0};
  if (argc != 3)
    return 2;
  htpRegisterAllDialects(registry);
  context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  mlirContextAttachDiagnosticHandler(context, printDiagnostic, NULL, NULL);

  // CHECK: error: cannot read 'no-such.onnx': No such file or directory
  module =
      htpImportFile(context, mlirStringRefCreateFromCString("no-such.onnx"));
  if (!mlirModuleIsNull(module))
    return 1;
  // CHECK: error: 'memory' is not an ONNX model
  module =
      htpImportBytes(context, mlirStringRefCreateFromCString("\x08nothing"),
                     mlirStringRefCreateFromCString("memory"));
  if (!mlirModuleIsNull(module))
    return 1;

  module = htpImportFile(context, mlirStringRefCreateFromCString(argv[1]));
  if (mlirModuleIsNull(module) ||
      mlirLogicalResultIsFailure(htpTag(module, tag)))
    return 1;
  mlirOperationWalk(mlirModuleGetOperation(module), firstTag, &path,
                    MlirWalkPreOrder);
  // CHECK: the first op is of '{{[a-z].*}}'
  fprintf(stderr, "the first op is of '%.*s'\n", (int)path.length, path.data);

  // CHECK: error: no module is of class 'Blok'; did you mean 'Block'?
  wrong = mlirStringRefCreateFromCString("Blok");
  outline.classes = &wrong;
  outline.numClasses = 1;
  if (mlirLogicalResultIsSuccess(htpOutline(module, outline)))
    return 1;
  outline.numClasses = 0;
  if (mlirLogicalResultIsFailure(htpOutline(module, outline)))
    return 1;
  // CHECK: functions: [[FUNCTIONS:[2-9]]]
  fprintf(stderr, "functions: %d\n", functionsOf(module));

  // CHECK: error: cannot write 'no/such/folder.onnx'
  if (mlirLogicalResultIsSuccess(htpExportFile(
          module, mlirStringRefCreateFromCString("no/such/folder.onnx"))))
    return 1;
  if (mlirLogicalResultIsFailure(
          htpExportFile(module, mlirStringRefCreateFromCString(argv[2]))) ||
      mlirLogicalResultIsFailure(htpExportBytes(module, append, &bytes)))
    return 1;
  again = htpImportBytes(context, mlirStringRefCreate(bytes.data, bytes.size),
                         mlirStringRefCreateFromCString("memory"));
  free(bytes.data);
  if (mlirModuleIsNull(again))
    return 1;
  // CHECK: again: [[FUNCTIONS]]
  fprintf(stderr, "again: %d\n", functionsOf(again));
  // CHECK: inlined: 1
  if (mlirLogicalResultIsFailure(htpInline(again)))
    return 1;
  fprintf(stderr, "inlined: %d\n", functionsOf(again));
  mlirModuleDestroy(again);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  return 0;
}

// FILE: call @Block
