#include "graph/graph_def.h"

#include <vector>

#include "codec/wire.h"

namespace sonde::graph {
namespace {

using wire::Cursor;
using wire::Encoder;
using wire::Field;

void copy(Encoder& out, const Field& field) {
  switch (field.type) {
    case wire::Type::kVarint:
      out.varint(field.number, field.bits);
      break;
    case wire::Type::kFixed64:
      out.fixed64(field.number, field.bits);
      break;
    case wire::Type::kBytes:
      out.bytes(field.number, field.text());
      break;
    case wire::Type::kFixed32:
      out.fixed32(field.number, static_cast<uint32_t>(field.bits));
      break;
  }
}

// Copies a message field by field; fn(Encoder&, const Field&) returns true for a field it wrote
// itself. False when the message is malformed.
template <class Fn>
bool rewrite(Bytes message, std::string& out, Fn&& fn) {
  Encoder encoder(out);
  Cursor cursor(message);
  for (Field field; cursor.next(field);) {
    if (!fn(encoder, field)) copy(encoder, field);
  }
  return cursor.ok();
}

// A message with `prefix` in front of the string fields `number` ... names.
bool rename(Bytes message, std::string& out, std::initializer_list<uint32_t> numbers,
            std::string_view prefix) {
  return rewrite(message, out, [&](Encoder& encoder, const Field& field) {
    for (const uint32_t number : numbers) {
      if (field.number != number || !field.is_bytes()) continue;
      encoder.bytes(number, std::string(prefix).append(field.text()));
      return true;
    }
    return false;
  });
}

std::string_view text_field(Bytes message, uint32_t number) {
  std::string_view text;
  Cursor cursor(message);
  for (Field field; cursor.next(field);) {
    if (field.number == number && field.is_bytes()) text = field.text();
  }
  return text;
}

Bytes message_field(Bytes message, uint32_t number) {
  Bytes found;
  Cursor cursor(message);
  for (Field field; cursor.next(field);) {
    if (field.number == number && field.is_bytes()) found = field.bytes;
  }
  return found;
}

// attr["f"] of a PartitionedCall names a function, which is renamed with its library.
bool rename_called_function(Bytes entry, std::string& out, std::string_view prefix) {
  return rewrite(entry, out, [&](Encoder& encoder, const Field& field) {
    if (field.number != 2 || !field.is_bytes()) return false;
    std::string value;
    const bool ok = rewrite(field.bytes, value, [&](Encoder& inner, const Field& member) {
      if (member.number != 10 || !member.is_bytes()) return false;  // AttrValue.func
      std::string function;
      if (!rename(member.bytes, function, {1}, prefix)) return false;
      inner.bytes(10, function);
      return true;
    });
    if (!ok) return false;
    encoder.bytes(2, value);
    return true;
  });
}

// A NodeDef whose name and inputs live under `scope`; called functions get the `prefix`.
bool rename_node(Bytes node, std::string& out, const std::string& scope,
                 const std::string& prefix) {
  const bool is_call = text_field(node, 2) == "PartitionedCall";
  return rewrite(node, out, [&](Encoder& encoder, const Field& field) {
    if (!field.is_bytes()) return false;
    if (field.number == 1 || field.number == 3) {
      encoder.bytes(field.number, scope + std::string(field.text()));
      return true;
    }
    if (field.number == 5 && is_call && text_field(field.bytes, 1) == "f") {
      std::string entry;
      if (!rename_called_function(field.bytes, entry, prefix)) return false;
      encoder.bytes(5, entry);
      return true;
    }
    return false;
  });
}

bool rename_function(Bytes function, std::string& out, const std::string& prefix) {
  return rewrite(function, out, [&](Encoder& encoder, const Field& field) {
    if (field.number != 1 || !field.is_bytes()) return false;
    std::string signature;
    if (!rename(field.bytes, signature, {1}, prefix)) return false;
    encoder.bytes(1, signature);
    return true;
  });
}

bool add_graph(Bytes graph, size_t number, std::string& nodes, std::string& library) {
  const std::string name = "graph_" + std::to_string(number);
  Encoder node_out(nodes), library_out(library);
  Cursor cursor(graph);
  for (Field field; cursor.next(field);) {
    if (!field.is_bytes()) continue;
    if (field.number == 1) {
      std::string node;
      if (!rename_node(field.bytes, node, name + "/", name + "_")) return false;
      node_out.bytes(1, node);
    } else if (field.number == 2) {
      Cursor entries(field.bytes);
      for (Field entry; entries.next(entry);) {
        std::string renamed;
        if (entry.number == 1 && entry.is_bytes()) {
          if (!rename_function(entry.bytes, renamed, name + "_")) return false;
          library_out.bytes(1, renamed);
        } else if (entry.number == 2 && entry.is_bytes()) {
          if (!rename(entry.bytes, renamed, {1, 2}, name + "_")) return false;
          library_out.bytes(2, renamed);
        }
      }
      if (!entries.ok()) return false;
    }
  }
  return cursor.ok();
}

uint64_t producer_of(Bytes graph) {
  uint64_t producer = 0;
  Cursor cursor(message_field(graph, 4));
  for (Field field; cursor.next(field);) {
    if (field.number == 1) producer = field.bits;
  }
  return producer;
}

// A NodeDef without its large attributes. Empty when it has none: the node stays as it is.
Result<std::string> slim_node(Bytes node, uint64_t limit, std::string_view key) {
  std::string out, list;
  Encoder names(list);
  bool has_large = false;
  const auto is_large = [&](const Field& field) {
    return field.number == 5 && field.is_bytes() && message_field(field.bytes, 2).size() > limit;
  };
  // What an earlier pass has put under `key` stays in the list.
  Bytes earlier;
  const bool ok = rewrite(node, out, [&](Encoder&, const Field& field) {
    if (field.number == 5 && field.is_bytes() && text_field(field.bytes, 1) == key &&
        !is_large(field)) {
      earlier = message_field(message_field(field.bytes, 2), 1);
      return true;
    }
    if (!is_large(field)) return false;
    has_large = true;
    names.bytes(2, text_field(field.bytes, 1));  // AttrValue.ListValue.s
    return true;
  });
  if (!ok) return fail(Code::kCorrupt, "the graph holds a malformed node");
  if (!has_large) return std::string();
  Encoder(out).message(5, [&](Encoder& entry) {
    entry.bytes(1, key);
    entry.message(2, [&](Encoder& value) { value.bytes(1, std::string(as_text(earlier)) + list); });
  });
  return out;
}

}  // namespace

Result<std::string> graph_of_run_metadata(Bytes run_metadata) {
  std::vector<Bytes> graphs;
  Cursor cursor(run_metadata);
  for (Field field; cursor.next(field);) {
    if (field.number == 4 && field.is_bytes()) graphs.push_back(message_field(field.bytes, 2));
  }
  if (!cursor.ok()) return fail(Code::kCorrupt, "the value is no RunMetadata");
  if (graphs.empty()) return std::string();
  if (graphs.size() == 1) return std::string(as_text(graphs[0]));
  std::string nodes, library;
  for (size_t i = 0; i < graphs.size(); ++i) {
    if (producer_of(graphs[i]) != producer_of(graphs[0])) {
      return fail(Code::kInvalid,
                  "the trace holds graphs of different versions, which cannot be shown as one");
    }
    if (!add_graph(graphs[i], i + 1, nodes, library)) {
      return fail(Code::kCorrupt, "graph " + std::to_string(i + 1) + " of the trace is malformed");
    }
  }
  std::string out = std::move(nodes);
  Encoder encoder(out);
  if (!library.empty()) encoder.bytes(2, library);
  if (producer_of(graphs[0]) != 0) encoder.bytes(4, as_text(message_field(graphs[0], 4)));
  return out;
}

Result<std::string> without_large_attributes(Bytes graph, uint64_t limit, std::string_view key) {
  std::string out;
  out.reserve(graph.size());
  Encoder encoder(out);
  Cursor cursor(graph);
  for (Field field; cursor.next(field);) {
    if (field.number == 1 && field.is_bytes() && field.bytes.size() > limit) {
      SONDE_TRY(const node, slim_node(field.bytes, limit, key));
      if (!node.empty()) {
        encoder.bytes(1, node);
        continue;
      }
    }
    copy(encoder, field);
  }
  if (!cursor.ok()) return fail(Code::kCorrupt, "the value is no GraphDef");
  return out;
}

}  // namespace sonde::graph
