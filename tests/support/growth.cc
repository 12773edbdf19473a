// Inputs of strangers that once took, or could take, more than time in proportion to their size.
// One of them is read when tests/engine/growth.py asks for it, which counts the instructions of
// growth_work() with callgrind for inputs of doubling size.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "capture/analysis/analysis.h"
#include "capture/import/registry.h"
#include "capture/report/tool.h"
#include "capture/trace/level_of_detail.h"
#include "codec/json_read.h"
#include "embed/files/labels.h"
#include "embed/files/vectors.h"
#include "graph/hierarchy.h"
#include "graph/model.h"
#include "graph/pbtxt.h"
#include "graph/pbtxt_read.h"
#include "log/query/hparams/config_file.h"
#include "text/markdown.h"
#include "text/sanitize.h"

namespace sonde {
namespace {

struct Input {
  std::function<std::string(size_t bytes)> make;
  std::function<void(const std::string&)> read;
};

std::string repeated(std::string_view piece, size_t bytes) {
  std::string text;
  text.reserve(bytes + piece.size());
  while (text.size() < bytes) text += piece;
  return text;
}

Input markdown(std::string_view piece) {
  return {[piece](size_t bytes) { return repeated(piece, bytes); },
          [](const std::string& text) { text::markdown_to_safe_html(text); }};
}

void read_trace(const std::string& text) {
  auto imported = imports::import_trace({"x.json", as_bytes(text)});
  if (!imported) return;
  trace::Session loaded;
  loaded.hosts.push_back(
      {"host", "host", text.size(), std::make_shared<const trace::Trace>(std::move(*imported))});
  const trace::LevelOfDetail lod(loaded.hosts[0].trace);
  for (trace::TrackId t = 0; t < loaded.hosts[0].trace->tracks().size(); ++t) lod.busy(t);
  const capture::Session session(std::move(loaded));
  for (const std::string_view id : {"xspace_digest", "overview_page", "torch.overview"}) {
    if (const capture::Tool* tool = capture::find_tool(id))
      (void)capture::run_tool(*tool, session, {});
  }
}

// A Chrome trace of events that `line` writes for 0, 1, 2…
Input trace_of(const std::function<std::string(size_t)>& line) {
  return {[line](size_t bytes) {
            std::string text = "{\"traceEvents\":[";
            for (size_t i = 0; text.size() < bytes; ++i) text += (i ? "," : "") + line(i);
            return text + "]}";
          },
          read_trace};
}

Input json(std::string_view first, std::string_view piece, std::string_view last) {
  return {
      [=](size_t bytes) { return std::string(first) + repeated(piece, bytes) + std::string(last); },
      [](const std::string& text) { (void)read_json(text); }};
}

Input graph_of(const std::function<std::string(size_t)>& node) {
  return {[node](size_t bytes) {
            std::string text;
            for (size_t i = 0; text.size() < bytes; ++i) text += node(i);
            return text;
          },
          [](const std::string& text) {
            auto bytes = graph::from_pbtxt(text, graph::kGraphDef);
            auto model = bytes ? graph::read_model(std::move(*bytes)) : fail(bytes.error());
            if (model) graph::build_hierarchy(*model);
          }};
}

const std::map<std::string, Input>& inputs() {
  static const std::map<std::string, Input> all = {
      {"markdown_link_targets", markdown("[a](<")},
      {"markdown_empty_links", markdown("[](")},
      {"markdown_tags", markdown("<b")},
      {"markdown_attributes", markdown("<b =\"")},
      {"markdown_brackets", markdown("[")},
      {"markdown_titles", markdown("[a]('x\" ")},
      {"markdown_emphasis", markdown("_a*")},
      {"markdown_comments", markdown("<!--")},
      {"markdown_ticks", markdown("``` `` ")},
      {"markdown_headings", markdown("# a\n")},
      {"markdown_rules", markdown("a\n---\n")},
      {"markdown_references", markdown("[a]: b\n")},
      {"markdown_lists", markdown("- a\n    - b\n")},
      {"markdown_tables", markdown("|a|b|\n|-|-|\n")},
      {"html_unclosed_tags",
       {[](size_t bytes) { return repeated("<a href=\"x", bytes); },
        [](const std::string& text) { text::safe_html(text); }}},
      {"html_attributes",
       {[](size_t bytes) {
          std::string tag = "<a";
          for (size_t i = 0; tag.size() < bytes; ++i) tag += fmt::format(" x{}", i);
          return tag + ">";
        },
        [](const std::string& text) { text::safe_html(text); }}},
      {"json_keys",
       {[](size_t bytes) {
          std::string text = "{\"a\":0";
          for (size_t i = 0; text.size() < bytes; ++i) text += fmt::format(",\"k{}\":{}", i, i);
          return text + "}";
        },
        [](const std::string& text) { (void)read_json(text); }}},
      {"json_one_key", json("{\"a\":0", ",\"a\":1", "}")},
      {"json_escapes", json("\"", "\\u0041\\n", "\"")},
      {"json_nesting", json("", "[", "")},
      {"trace_categories", trace_of([](size_t i) {
         return fmt::format(
             "{{\"ph\":\"X\",\"name\":\"n{0}\",\"cat\":\"c{0}\",\"ts\":{0},\"dur\":1,\"pid\":1,"
             "\"tid\":1}}",
             i);
       })},
      {"trace_processes", trace_of([](size_t i) {
         return fmt::format(
             "{{\"ph\":\"X\",\"name\":\"a\",\"ts\":{0},\"dur\":1,\"pid\":{0},\"tid\":{0}}}", i);
       })},
      {"trace_nesting", trace_of([](size_t i) {
         return fmt::format(
             "{{\"ph\":\"X\",\"name\":\"a\",\"ts\":{},\"dur\":{},\"pid\":1,\"tid\":1}}", i,
             10'000'000 - 2 * i);
       })},
      {"trace_unclosed_begins", trace_of([](size_t i) {
         return fmt::format("{{\"ph\":\"B\",\"name\":\"a\",\"ts\":{},\"pid\":1,\"tid\":1}}", i);
       })},
      {"trace_arguments", trace_of([](size_t i) {
         return fmt::format(
             "{{\"ph\":\"X\",\"name\":\"a\",\"ts\":{0},\"dur\":1,\"pid\":1,\"tid\":1,\"args\":{{"
             "\"k{0}\":\"v{0}\"}}}}",
             i);
       })},
      {"trace_arrows", trace_of([](size_t i) {
         return fmt::format(
             "{{\"ph\":\"s\",\"id\":{0},\"name\":\"f\",\"cat\":\"f\",\"ts\":{0},\"pid\":1,"
             "\"tid\":1}}",
             i);
       })},
      {"graph_one_scope",
       graph_of([](size_t i) { return fmt::format("node {{ name: \"s/n{}\" op: \"A\" }}\n", i); })},
      {"graph_scopes", graph_of([](size_t i) {
         return fmt::format("node {{ name: \"s{0}/n{0}\" op: \"A\" }}\n", i);
       })},
      {"graph_one_name",
       graph_of([](size_t) { return std::string("node { name: \"a\" op: \"A\" }\n"); })},
      {"graph_chain", graph_of([](size_t i) {
         return fmt::format("node {{ name: \"n{}\" op: \"A\" input: \"n{}\" }}\n", i,
                            i ? i - 1 : 0);
       })},
      {"labels_columns",
       {[](size_t bytes) { return repeated("a\t", bytes) + "\n" + repeated("b\t", bytes); },
        [](const std::string& text) { embed::parse_labels(text, 1); }}},
      {"labels_words",
       {[](size_t bytes) {
          std::string text = "name\tkind\n";
          for (size_t i = 0; text.size() < bytes; ++i) text += fmt::format("w{}\tk{}\n", i, i);
          return text;
        },
        [](const std::string& text) { embed::parse_labels(text, text.size() / 8); }}},
      {"vectors_rows",
       {[](size_t bytes) { return repeated("1\t2\n", bytes); },
        [](const std::string& text) { (void)embed::parse_vectors(text, 0); }}},
      {"config_yaml",
       {[](size_t bytes) {
          std::string text;
          for (size_t i = 0; text.size() < bytes; ++i) text += fmt::format("k{}: {}\n", i, i);
          return text;
        },
        [](const std::string& text) { query::read_config_yaml(text); }}},
      {"config_json",
       {[](size_t bytes) {
          std::string text = "{\"a\":0";
          for (size_t i = 0; text.size() < bytes; ++i) text += fmt::format(",\"k{}\":{}", i, i);
          return text + "}";
        },
        [](const std::string& text) { query::read_config_json(text); }}},
  };
  return all;
}

}  // namespace

// Named for callgrind's --toggle-collect.
extern "C" __attribute__((noinline)) void growth_work(const void* input, const void* text) {
  static_cast<const Input*>(input)->read(*static_cast<const std::string*>(text));
}

TEST_CASE("Growth: one input is read" * doctest::skip()) {
  const char* name = std::getenv("SONDE_GROWTH_INPUT");
  const char* bytes = std::getenv("SONDE_GROWTH_BYTES");
  if (!name || !bytes) {
    for (const auto& [each, input] : inputs()) fmt::print("input {}\n", each);
    return;
  }
  const auto found = inputs().find(name);
  REQUIRE(found != inputs().end());
  const std::string text = found->second.make(std::strtoul(bytes, nullptr, 10));
  growth_work(&found->second, &text);
}

}  // namespace sonde
