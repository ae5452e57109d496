// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading fields, rewriting messages without copying them, and diagnosing
// malformed ones.

#include "HTP/Target/ONNX/Wire.h"

#include "onnx/onnx_pb.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace htp;
using namespace htp::wire;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

static std::optional<uint64_t> readVarint(StringRef &rest) {
  // Nearly all tags and lengths.
  if (!rest.empty() && static_cast<unsigned char>(rest.front()) < 0x80) {
    unsigned char byte = rest.front();
    rest = rest.drop_front();
    return byte;
  }
  uint64_t value = 0;
  for (unsigned i = 0; i != 10 && i != rest.size(); ++i) {
    auto byte = static_cast<unsigned char>(rest[i]);
    if (i == 9 && byte > 1)
      return std::nullopt;
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      rest = rest.drop_front(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

/// Reads a tag; protobuf allows numbers from 1 to 2^29 - 1.
static bool readTag(StringRef &rest, Field &field) {
  std::optional<uint64_t> tag = readVarint(rest);
  if (!tag || *tag >> 32 || *tag >> 3 == 0)
    return false;
  field.number = *tag >> 3;
  field.type = *tag & 7;
  return true;
}

std::optional<Field> wire::readField(StringRef &rest) {
  StringRef bytes = rest;
  Field field;
  if (!readTag(bytes, field))
    return std::nullopt;
  uint64_t size = 0;
  switch (field.type) {
  case Varint:
  case Length: {
    std::optional<uint64_t> value = readVarint(bytes);
    if (!value)
      return std::nullopt;
    field.varint = *value;
    size = field.type == Length ? *value : 0;
    break;
  }
  case Fixed64:
    size = 8;
    break;
  case Fixed32:
    size = 4;
    break;
  default: // Groups: no version of ONNX has them.
    return std::nullopt;
  }
  if (size > bytes.size())
    return std::nullopt;
  field.payload = bytes.take_front(size);
  bytes = bytes.drop_front(size);
  field.whole = rest.drop_back(bytes.size());
  rest = bytes;
  return field;
}

std::optional<Pair> wire::readPair(StringRef message) {
  using ::onnx::StringStringEntryProto;
  Pair pair;
  while (std::optional<Field> field = readField(message)) {
    StringRef *part = nullptr;
    if (field->number == StringStringEntryProto::kKeyFieldNumber)
      part = &pair.first;
    else if (field->number == StringStringEntryProto::kValueFieldNumber)
      part = &pair.second;
    if (!part || part->data() || field->type != Length)
      return std::nullopt;
    *part = field->payload;
  }
  if (!message.empty() || !pair.first.data() || !pair.second.data())
    return std::nullopt;
  return pair;
}

void wire::forEachPair(StringRef notes, function_ref<void(Pair)> fn) {
  while (std::optional<Field> field = readField(notes))
    if (std::optional<Pair> pair = readPair(field->payload))
      fn(*pair);
}

//===----------------------------------------------------------------------===//
// Rope
//===----------------------------------------------------------------------===//

void Rope::append(StringRef bytes) {
  total += bytes.size();
  if (bytes.empty())
    return;
  if (!parts.empty() && parts.back().end() == bytes.begin())
    parts.back() =
        StringRef(parts.back().data(), parts.back().size() + bytes.size());
  else
    parts.push_back(bytes);
}

StringRef Rope::encode(unsigned number, Type type, uint64_t value) {
  char buffer[20], *end = buffer;
  for (uint64_t varint : {uint64_t(number) << 3 | type, value}) {
    for (; varint >= 0x80; varint >>= 7)
      *end++ = static_cast<char>(varint | 0x80);
    *end++ = static_cast<char>(varint);
  }
  return StringRef(buffer, end - buffer).copy(storage);
}

void Rope::appendField(unsigned number, Type type, uint64_t value) {
  append(encode(number, type, value));
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

bool wire::reachesTensor(const Descriptor *descriptor) {
  static thread_local DenseMap<const Descriptor *, bool> reaches;
  auto [entry, inserted] = reaches.try_emplace(descriptor, false);
  if (!inserted)
    return entry->second;
  SetVector<const Descriptor *> types;
  types.insert(descriptor);
  for (size_t next = 0; next != types.size(); ++next)
    for (int i = 0, e = types[next]->field_count(); i != e; ++i)
      if (const Descriptor *type = types[next]->field(i)->message_type())
        types.insert(type);
  return entry->second = types.contains(::onnx::TensorProto::descriptor());
}

/// Whether the field is, or contains, a node of the main graph or of a
/// function. Subgraphs are only visited if they are large.
static bool leadsToNodes(const Descriptor *descriptor, const Field &field) {
  using namespace ::onnx;
  if (descriptor == GraphProto::descriptor())
    return field.number == GraphProto::kNodeFieldNumber;
  if (descriptor == FunctionProto::descriptor())
    return field.number == FunctionProto::kNodeFieldNumber;
  return descriptor == ModelProto::descriptor() &&
         (field.number == ModelProto::kGraphFieldNumber ||
          field.number == ModelProto::kFunctionsFieldNumber);
}

/// The metadata of a node: one contiguous run of pairs. Empty if there are none
/// or if they are in any other form, which is left to protobuf.
static StringRef findNotes(StringRef node) {
  StringRef notes;
  while (std::optional<Field> field = readField(node)) {
    if (field->number != ::onnx::NodeProto::kMetadataPropsFieldNumber)
      continue;
    bool follows = notes.empty() || notes.end() == field->whole.begin();
    if (field->type != Length || !follows || !readPair(field->payload))
      return StringRef();
    notes = StringRef(notes.empty() ? field->whole.data() : notes.data(),
                      notes.size() + field->whole.size());
  }
  return node.empty() ? notes : StringRef();
}

namespace htp::wire {

class Rewriter {
public:
  Rewriter(size_t minimum, TensorRewrite rewriteTensor,
           NotesRewrite rewriteNotes, Rope &rope)
      : minimum(minimum), rewriteTensor(rewriteTensor),
        rewriteNotes(rewriteNotes), rope(rope) {}

  enum class Outcome { Unchanged, Changed, Malformed };
  /// Appends the message to the rope if anything in it changed; otherwise
  /// leaves the rope unchanged.
  Outcome message(const Descriptor *descriptor, StringRef bytes,
                  unsigned depth);

private:
  Outcome field(const Descriptor *descriptor, const Field &field,
                unsigned depth);

  struct State {
    size_t parts;
    uint64_t total;
    StringRef last;
  };
  State save() const {
    return {rope.parts.size(), rope.total,
            rope.parts.empty() ? StringRef() : rope.parts.back()};
  }
  void restore(const State &state) {
    rope.parts.resize(state.parts);
    rope.total = state.total;
    if (!rope.parts.empty())
      rope.parts.back() = state.last; // It may have grown.
  }

  /// Whether a field of the message may hold something to rewrite.
  bool isOfInterest(const Descriptor *descriptor, const Field &field) const {
    return field.type == Length &&
           (field.payload.size() >= minimum ||
            (rewriteNotes && leadsToNodes(descriptor, field)));
  }

  size_t minimum;
  TensorRewrite rewriteTensor;
  NotesRewrite rewriteNotes;
  Rope &rope;
};

} // namespace htp::wire

Rewriter::Outcome Rewriter::message(const Descriptor *descriptor,
                                    StringRef bytes, unsigned depth) {
  if (depth > kMaxDepth)
    return Outcome::Malformed;
  if (descriptor == ::onnx::TensorProto::descriptor())
    return rewriteTensor(bytes, rope) ? Outcome::Changed : Outcome::Unchanged;

  State before = save();
  Outcome outcome = Outcome::Unchanged;
  StringRef notes;
  if (rewriteNotes && descriptor == ::onnx::NodeProto::descriptor())
    notes = findNotes(bytes);
  while (!bytes.empty()) {
    std::optional<Field> next = readField(bytes);
    if (!next)
      return Outcome::Malformed;
    if (!notes.empty() && next->whole.begin() == notes.begin()) {
      rewriteNotes(notes, rope);
      bytes = StringRef(notes.end(), bytes.end() - notes.end());
      outcome = Outcome::Changed;
      continue;
    }
    switch (field(descriptor, *next, depth)) {
    case Outcome::Malformed:
      return Outcome::Malformed;
    case Outcome::Changed:
      outcome = Outcome::Changed;
      break;
    case Outcome::Unchanged:
      rope.append(next->whole);
      break;
    }
  }
  if (outcome == Outcome::Unchanged)
    restore(before);
  return outcome;
}

Rewriter::Outcome Rewriter::field(const Descriptor *descriptor,
                                  const Field &field, unsigned depth) {
  if (!isOfInterest(descriptor, field))
    return Outcome::Unchanged;
  const FieldDescriptor *known = descriptor->FindFieldByNumber(field.number);
  const Descriptor *type = known ? known->message_type() : nullptr;
  if (!type || !reachesTensor(type))
    return Outcome::Unchanged;

  // The new length is known only after the payload, so reserve a piece for it.
  State before = save();
  rope.parts.push_back(StringRef());
  uint64_t start = rope.total;
  Outcome outcome = message(type, field.payload, depth + 1);
  if (outcome != Outcome::Changed) {
    restore(before);
    return outcome;
  }
  StringRef head = rope.encode(field.number, Length, rope.total - start);
  rope.parts[before.parts] = head;
  rope.total += head.size();
  return Outcome::Changed;
}

std::unique_ptr<Rope> wire::rewrite(StringRef model, size_t minimum,
                                    TensorRewrite rewriteTensor,
                                    NotesRewrite rewriteNotes) {
  auto rope = std::make_unique<Rope>();
  Rewriter rewriter(minimum, rewriteTensor, rewriteNotes, *rope);
  switch (rewriter.message(::onnx::ModelProto::descriptor(), model, 1)) {
  case Rewriter::Outcome::Malformed:
    return nullptr;
  case Rewriter::Outcome::Unchanged:
    rope->append(model);
    break;
  case Rewriter::Outcome::Changed:
    break;
  }
  return rope;
}

//===----------------------------------------------------------------------===//
// Diagnosis
//===----------------------------------------------------------------------===//

namespace {

/// Finds the first fault in a malformed message. Thorough rather than fast, as
/// it only runs if there is an error to report.
class Diagnosis {
public:
  explicit Diagnosis(StringRef model) : model(model) {}
  std::string message(const Descriptor *descriptor, StringRef bytes,
                      unsigned depth, StringRef inside);

private:
  std::string where(StringRef bytes, StringRef inside) const {
    return ("at byte " + Twine(bytes.begin() - model.begin()) + inside).str();
  }
  StringRef model;
};

} // namespace

/// The `name` of a message, as far as the message goes.
static StringRef nameOf(const Descriptor *descriptor, StringRef bytes) {
  const FieldDescriptor *name = descriptor->FindFieldByName("name");
  while (std::optional<Field> field = readField(bytes))
    if (name && field->type == Length &&
        field->number == static_cast<unsigned>(name->number()))
      return field->payload;
  return StringRef();
}

/// The kind of a message for users: "GraphProto" is a "graph".
static std::string kindOf(const Descriptor *descriptor) {
  StringRef kind = descriptor->name();
  kind.consume_back("Proto");
  return kind.lower();
}

/// Describes a place by the innermost named message. Attributes have the same
/// few names everywhere, so the node's name is added.
static std::string describe(const Descriptor *descriptor, StringRef name,
                            StringRef inside) {
  std::string text =
      " in " + kindOf(descriptor) + " '" + name.take_front(200).str() + "'";
  if (descriptor == ::onnx::AttributeProto::descriptor() &&
      inside.consume_front(" in "))
    text += " of " + inside.str();
  return text;
}

std::string Diagnosis::message(const Descriptor *descriptor, StringRef bytes,
                               unsigned depth, StringRef inside) {
  if (depth > kMaxDepth)
    return "messages nested deeper than " + std::to_string(kMaxDepth) +
           " levels " + where(bytes, inside);
  while (!bytes.empty()) {
    StringRef rest = bytes;
    std::optional<Field> field = readField(rest);
    Field head;
    StringRef content = bytes;
    if (!field && !readTag(content, head))
      return "malformed field tag " + where(bytes, inside);
    if (field)
      head = *field;
    const FieldDescriptor *known = descriptor->FindFieldByNumber(head.number);
    const Descriptor *type = known ? known->message_type() : nullptr;
    std::string label = known ? "'" + known->name() + "'"
                              : "number " + std::to_string(head.number);

    // A length beyond the end: the innermost truncated message tells most.
    std::optional<uint64_t> length;
    if (!field && head.type == Length)
      length = readVarint(content);
    if (type && head.type == Length && (field || length)) {
      StringRef payload = field ? field->payload : content;
      StringRef name = nameOf(type, payload);
      std::string path = inside.str();
      if (!name.empty())
        path = describe(type, name, inside);
      std::string fault = message(type, payload, depth + 1, path);
      if (!fault.empty())
        return fault;
    }
    if (length)
      return "field " + label + " needs " + std::to_string(*length) +
             " bytes, found " + std::to_string(content.size()) + " " +
             where(bytes, inside);
    if (!field)
      return "malformed field " + label + " " + where(bytes, inside);
    bytes = rest;
  }
  return "";
}

std::string wire::diagnose(StringRef model) {
  return Diagnosis(model).message(::onnx::ModelProto::descriptor(), model, 1,
                                  "");
}
