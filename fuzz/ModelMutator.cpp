// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mutations that know what a model is: one field of one message of it changes,
// by protobuf's reflection, so that nearly every input is a model again. Plain
// bytes are changed now and then as well.

#include "onnx/onnx_pb.h"

#include <google/protobuf/message.h>

#include <cstring>
#include <random>

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

class ModelMutator {
public:
  ModelMutator(onnx::ModelProto &model, unsigned seed) : random(seed) {
    collect(model);
  }

  void mutate() {
    Message &message = *messages[pick(messages.size())];
    const auto *descriptor = message.GetDescriptor();
    if (!descriptor->field_count())
      return;
    const FieldDescriptor &field =
        *descriptor->field(int(pick(descriptor->field_count())));
    if (field.is_repeated())
      mutateList(message, field);
    else if (pick(8) == 0)
      message.GetReflection()->ClearField(&message, &field);
    else
      set(message, field, /*append=*/false);
  }

private:
  size_t pick(size_t count) { return random() % count; }

  /// All messages, and the texts that one may take from another.
  void collect(Message &message) {
    messages.push_back(&message);
    const Reflection &reflection = *message.GetReflection();
    std::vector<const FieldDescriptor *> fields;
    reflection.ListFields(message, &fields);
    for (const FieldDescriptor *field : fields) {
      const int count =
          field->is_repeated() ? reflection.FieldSize(message, field) : 1;
      for (int i = 0; i < count; ++i) {
        if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
          collect(field->is_repeated()
                      ? *reflection.MutableRepeatedMessage(&message, field, i)
                      : *reflection.MutableMessage(&message, field));
        else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING)
          texts.push_back(field->is_repeated()
                              ? reflection.GetRepeatedString(message, field, i)
                              : reflection.GetString(message, field));
      }
    }
  }

  void mutateList(Message &message, const FieldDescriptor &field) {
    const Reflection &reflection = *message.GetReflection();
    const int count = reflection.FieldSize(message, &field);
    if (!count || pick(3) == 0)
      return set(message, field, /*append=*/true);
    const int one = int(pick(count)), other = int(pick(count));
    reflection.SwapElements(&message, &field, one, other);
    if (pick(2) == 0)
      reflection.RemoveLast(&message, &field);
  }

  int64_t number() {
    static constexpr int64_t kOdd[] = {0,
                                       1,
                                       -1,
                                       2,
                                       3,
                                       7,
                                       8,
                                       16,
                                       127,
                                       255,
                                       1 << 16,
                                       2147483647,
                                       1ll << 31,
                                       1ll << 32,
                                       1ll << 40,
                                       std::numeric_limits<int64_t>::max(),
                                       std::numeric_limits<int64_t>::min()};
    return kOdd[pick(std::size(kOdd))];
  }

  std::string text() {
    static constexpr const char *kOdd[] = {"",
                                           "/",
                                           ".",
                                           "a.b",
                                           "[[[[",
                                           "{}",
                                           "nan",
                                           "\xff\xc3(",
                                           "#htp.tag<",
                                           "htp.tag",
                                           "htp.scope",
                                           "htp.hierarchy",
                                           "htp.call",
                                           "htp.order",
                                           "htp.originals",
                                           "htp.contexts",
                                           "pkg.torch.onnx.name_scopes",
                                           "If",
                                           "Identity",
                                           "Constant",
                                           "ai.onnx"};
    switch (pick(3)) {
    case 0:
      return kOdd[pick(std::size(kOdd))];
    case 1:
      return texts.empty() ? "" : texts[pick(texts.size())];
    default:
      std::string changed = texts.empty() ? "x" : texts[pick(texts.size())];
      const size_t size = changed.size(), most = size + 16;
      changed.resize(most);
      changed.resize(LLVMFuzzerMutate(
          reinterpret_cast<uint8_t *>(changed.data()), size, most));
      return changed;
    }
  }

  /// A copy of one from elsewhere in the model, or null.
  std::unique_ptr<Message> copyOfOne(const Descriptor *kind) {
    std::vector<const Message *> alike;
    for (const Message *other : messages)
      if (other->GetDescriptor() == kind && other->ByteSizeLong() < 4096)
        alike.push_back(other);
    if (alike.empty())
      return nullptr;
    const Message &chosen = *alike[pick(alike.size())];
    std::unique_ptr<Message> copy(chosen.New());
    copy->CopyFrom(chosen);
    return copy;
  }

  void setMessage(Message &message, const FieldDescriptor &field, bool append) {
    // First: setting a field may free another of the same oneof.
    std::unique_ptr<Message> copy = copyOfOne(field.message_type());
    const Reflection &r = *message.GetReflection();
    Message &target = append ? *r.AddMessage(&message, &field)
                             : *r.MutableMessage(&message, &field);
    if (copy)
      target.CopyFrom(*copy);
  }

  void set(Message &message, const FieldDescriptor &field, bool append) {
    const Reflection &r = *message.GetReflection();
    switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return setMessage(message, field, append);
    case FieldDescriptor::CPPTYPE_STRING:
      return append ? r.AddString(&message, &field, text())
                    : r.SetString(&message, &field, text());
    case FieldDescriptor::CPPTYPE_INT64:
      return append ? r.AddInt64(&message, &field, number())
                    : r.SetInt64(&message, &field, number());
    case FieldDescriptor::CPPTYPE_INT32:
      return append ? r.AddInt32(&message, &field, int32_t(number()))
                    : r.SetInt32(&message, &field, int32_t(number()));
    case FieldDescriptor::CPPTYPE_UINT64:
      return append ? r.AddUInt64(&message, &field, number())
                    : r.SetUInt64(&message, &field, number());
    case FieldDescriptor::CPPTYPE_FLOAT:
      return append ? r.AddFloat(&message, &field, float(number()))
                    : r.SetFloat(&message, &field, float(number()));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return append ? r.AddDouble(&message, &field, double(number()))
                    : r.SetDouble(&message, &field, double(number()));
    case FieldDescriptor::CPPTYPE_ENUM: {
      const int count = field.enum_type()->value_count();
      const auto *value = field.enum_type()->value(int(pick(count)));
      return append ? r.AddEnum(&message, &field, value)
                    : r.SetEnum(&message, &field, value);
    }
    default:
      return; // ONNX has no others.
    }
  }

  std::mt19937 random;
  std::vector<Message *> messages;
  std::vector<std::string> texts;
};

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  onnx::ModelProto model;
  if (seed % 8 == 0 || !model.ParseFromArray(data, int(size)))
    return LLVMFuzzerMutate(data, size, maxSize);
  // Messages may go when a field does: each change sees the model anew.
  for (unsigned i = 0; i <= seed / 8 % 3; ++i)
    ModelMutator(model, seed + i).mutate();
  std::string changed = model.SerializePartialAsString();
  if (changed.size() > maxSize)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}
