// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How htp-opt and htp-onnx want jemalloc, which they link in place of the
// system's malloc: a large model is millions of small objects that live to the
// end. In huge pages their first touch costs a fraction of the page faults, and
// finding one again fewer misses of the TLB. With one arena, what the thread
// that reads a trace has freed serves the others, large pieces as well as small.

const char *malloc_conf = "thp:always,narenas:1,oversize_threshold:0";
