// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Patterns that decide which module a node belongs to when its evidence
// disagrees. A pattern is a class with one small interface, registered by name.
// A plugin can add its own:
//
//   struct MyPattern : htp::ResolutionPattern {
//     std::optional<htp::Decision>
//     match(const htp::ConflictView &conflict) const override { … }
//   };
//   htp::registerResolutionPattern<MyPattern>("my-pattern");
//
// and `--htp-resolve-contamination=patterns=my-pattern,residual` selects it.

#ifndef HTP_TRANSFORMS_RESOLUTION_H
#define HTP_TRANSFORMS_RESOLUTION_H

#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Hierarchy/ModuleTree.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace htp {

/// A module that a node or one of its neighbours could belong to, and why.
struct Candidate {
  ModuleId module;
  int64_t call = 0;
  Evidence evidence = Evidence::None;
  double confidence = 0;
};

/// A node with everything known about which module it belongs to.
class ConflictView {
public:
  /// `op` must have a tag.
  ConflictView(mlir::Operation *op, const ModuleTree &tree);

  mlir::Operation *getOperation() const { return op; }
  const ModuleTree &getTree() const { return tree; }
  /// The module in the node's tag.
  const Candidate &getCurrent() const { return current; }
  /// The other modules that its tag names as contexts.
  llvm::ArrayRef<Candidate> getContexts() const { return contexts; }
  /// The tags of the nodes that it reads from (constants excluded), and of
  /// those that read from it.
  llvm::ArrayRef<Candidate> getProducers() const { return producers; }
  llvm::ArrayRef<Candidate> getConsumers() const { return consumers; }

  /// The nodes that produce or read `value`, as candidates. A value returned
  /// from a body is read by the node that holds the body.
  std::optional<Candidate> producerOf(mlir::Value value) const;
  llvm::SmallVector<Candidate> readersOf(mlir::Value value,
                                         mlir::Operation *except) const;

  /// Whether one of two modules lies within the other.
  bool related(ModuleId a, ModuleId b) const;
  /// The lowest common ancestor of the candidates; the root if there are none.
  ModuleId common(llvm::ArrayRef<Candidate> several) const;

  /// Whether the tag rests on evidence on the node itself (metadata, names,
  /// parameters) or on the user's decision.
  bool isDirect() const;
  /// Whether a context with confidence of at least `threshold` names a module
  /// that is neither above nor below the tag's.
  bool isDisputed(double threshold) const;
  /// Whether the node has neighbours, all of them in unrelated modules.
  bool isDetached() const;

private:
  std::optional<Candidate> candidateOf(mlir::Operation *node) const;

  mlir::Operation *op;
  const ModuleTree &tree;
  Candidate current;
  llvm::SmallVector<Candidate> contexts, producers, consumers;
};

/// The answer of a pattern.
struct Decision {
  ModuleId module;
  Evidence evidence; ///< Producer, Consumer or Ancestor
  double confidence;
  std::string reason;
};

class ResolutionPattern {
public:
  virtual ~ResolutionPattern() = default;
  /// The module that the node belongs to, or nothing if the pattern does not
  /// apply. Returning the current module confirms it.
  virtual std::optional<Decision> match(const ConflictView &conflict) const = 0;
};

using ResolutionPatternFactory =
    std::function<std::unique_ptr<ResolutionPattern>()>;

/// Adds a pattern; a second one of the same name replaces the first.
void registerResolutionPattern(llvm::StringRef name,
                               ResolutionPatternFactory factory);

template <typename Pattern>
void registerResolutionPattern(llvm::StringRef name) {
  registerResolutionPattern(name, [] { return std::make_unique<Pattern>(); });
}

/// A pattern by its name, or null.
std::unique_ptr<ResolutionPattern>
createResolutionPattern(llvm::StringRef name);

/// The names of all patterns, HTP's own first.
std::vector<std::string> getResolutionPatternNames();

} // namespace htp

#endif // HTP_TRANSFORMS_RESOLUTION_H
