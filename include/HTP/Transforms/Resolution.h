// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Patterns that say to which module a node belongs whose evidence disagrees.
// A pattern is a class behind one small interface, registered by name. A plugin
// adds its own:
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

/// A module that a node, or a neighbour of it, could belong to, and why.
struct Candidate {
  ModuleId module;
  int64_t call = 0;
  Evidence evidence = Evidence::None;
  double confidence = 0;
};

/// A node with all that is known about where it belongs.
class ConflictView {
public:
  /// `op` must have a tag.
  ConflictView(mlir::Operation *op, const ModuleTree &tree);

  mlir::Operation *getOperation() const { return op; }
  const ModuleTree &getTree() const { return tree; }
  /// What the node's tag says.
  const Candidate &getCurrent() const { return current; }
  /// The other modules that its tag names.
  llvm::ArrayRef<Candidate> getContexts() const { return contexts; }
  /// The tags of the nodes that make what it reads, constants left out, and of
  /// those that read what it makes.
  llvm::ArrayRef<Candidate> getProducers() const { return producers; }
  llvm::ArrayRef<Candidate> getConsumers() const { return consumers; }

  /// The nodes that make `value`, or read it, as candidates. What a body
  /// returns, the node that holds the body reads.
  std::optional<Candidate> producerOf(mlir::Value value) const;
  llvm::SmallVector<Candidate> readersOf(mlir::Value value,
                                         mlir::Operation *except) const;

  /// Whether one of two modules lies within the other.
  bool related(ModuleId a, ModuleId b) const;
  /// What all of several candidates lie within; the root of none.
  ModuleId common(llvm::ArrayRef<Candidate> several) const;

  /// Whether the tag rests on what the node itself says: notes, names,
  /// parameters, a user's word.
  bool isDirect() const;
  /// Whether another module than the tag's, and neither above nor below it, has
  /// a claim on the node that is at least `threshold` strong.
  bool isDisputed(double threshold) const;
  /// Whether the node has neighbours, and all of them lie elsewhere.
  bool isDetached() const;

private:
  std::optional<Candidate> candidateOf(mlir::Operation *node) const;

  mlir::Operation *op;
  const ModuleTree &tree;
  Candidate current;
  llvm::SmallVector<Candidate> contexts, producers, consumers;
};

/// What a pattern says about a node.
struct Decision {
  ModuleId module;
  Evidence evidence; ///< Producer, Consumer or Ancestor
  double confidence;
  std::string reason;
};

class ResolutionPattern {
public:
  virtual ~ResolutionPattern() = default;
  /// The module that the node belongs to, or nothing where the pattern does not
  /// apply. Naming the current module confirms it.
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
