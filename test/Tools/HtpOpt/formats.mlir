// Text and bytecode are told apart by content, whatever the file's name, and
// written by the ending or by --emit.

// RUN: htp-opt %s -o %t.mlirbc
// RUN: head -c 2 %t.mlirbc | FileCheck %s --check-prefix=MAGIC
// RUN: cp %t.mlirbc %t.onnx && htp-opt %t.onnx | FileCheck %s
// RUN: cat %t.mlirbc | htp-opt - | FileCheck %s
// RUN: htp-opt < %s | FileCheck %s
// RUN: htp-opt %s --emit=mlirbc | head -c 2 | FileCheck %s --check-prefix=MAGIC
// RUN: htp-opt %s --emit-bytecode | head -c 2 | FileCheck %s --check-prefix=MAGIC
// RUN: htp-opt %t.mlirbc --emit=mlir -o %t.other && FileCheck %s < %t.other

// Not all of a large file is looked at, and what is may end within a character.
// RUN: %python -c "print('func.func private @f() // ' + 'x' * int(__import__('sys').argv[1]) + 'ä' * 40000)" 0 > %t.even
// RUN: %python -c "print('func.func private @f() // ' + 'x' * int(__import__('sys').argv[1]) + 'ä' * 40000)" 1 > %t.odd
// RUN: htp-opt %t.even | FileCheck %s && htp-opt %t.odd | FileCheck %s

// Locations go into files and not to the terminal.
// RUN: htp-opt %s | FileCheck %s --check-prefix=NOLOC
// RUN: FileCheck %s --check-prefix=LOC < %t.other
// RUN: htp-opt %s --mlir-print-debuginfo=false -o %t.bare.mlir
// RUN: FileCheck %s --check-prefix=NOLOC < %t.bare.mlir

// Text may have any Unicode character: Ωδός.
// MAGIC: ML
// CHECK: func.func private @f()
// LOC: loc("here")
// NOLOC-NOT: loc(
func.func private @f() loc("here")
