// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options for jemalloc, which htp-opt and htp-onnx use instead of the system's
// malloc. A large model is millions of small objects, most of which live until
// the program exits:
//   thp                 in huge pages their first touch costs a fraction of the
//                       page faults, and finding one again misses the TLB less;
//   narenas, oversize   one arena for pieces of all sizes: what the thread that
//                       reads a trace has freed serves the others;
//   decay               what is freed is used again and not given back, only to
//                       be cleared by the system a second time: these programs
//                       end when they are done.

const char *malloc_conf = "thp:always,narenas:1,oversize_threshold:0,"
                          "dirty_decay_ms:-1,muzzy_decay_ms:-1";
