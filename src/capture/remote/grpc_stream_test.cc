#include "capture/remote/grpc_stream.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace sonde::remote {
namespace {

// HTTP/2 by hand: what a server may send, right or wrong.
std::string frame(int type, int flags, uint32_t stream, std::string_view payload) {
  std::string out;
  for (const int shift : {16, 8, 0}) out += static_cast<char>(payload.size() >> shift);
  out += static_cast<char>(type);
  out += static_cast<char>(flags);
  for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(stream >> shift);
  return out.append(payload);
}

using Pairs = std::vector<std::pair<std::string, std::string>>;
std::string literals(const Pairs& pairs) {  // of at most 126 bytes each
  std::string out;
  for (const auto& [name, value] : pairs) {
    out += '\0';
    out += static_cast<char>(name.size());
    out += name;
    out += static_cast<char>(value.size());
    out += value;
  }
  return out;
}

enum Flag { kEndStream = 1, kEndHeaders = 4 };
const std::string kSettings = frame(4, 0, 0, "");

std::string headers(const Pairs& pairs, int flags = 0) {
  return frame(1, kEndHeaders | flags, 1, literals(pairs));
}
const Pairs kGood = {{":status", "200"}, {"content-type", "application/grpc"}};
const std::string kHead = kSettings + headers(kGood);
const std::string kTrailers = headers({{"grpc-status", "0"}}, kEndStream);

std::string body(std::string_view payload, int flags = 0) { return frame(0, flags, 1, payload); }
std::string message(std::string_view text, uint32_t claimed, char compressed = 0) {
  std::string out(1, compressed);
  for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(claimed >> shift);
  return out.append(text);
}

constexpr uint64_t kLimit = 1000;
GrpcRequest request() { return {"here:1", "/service/Method", "question", 100, kLimit}; }

struct Conversation {
  GrpcStream stream{request()};
  Result<void> fed = {};
  Result<std::string> answer = fail(Code::kInvalid, "never done");

  // Feeds pieces of so many bytes, then closes.
  Conversation(std::string_view bytes, size_t piece) {
    stream.sent(stream.output().size());
    while (!bytes.empty() && fed && !stream.is_done()) {
      fed = stream.feed(as_bytes(bytes.substr(0, piece)));
      bytes.remove_prefix(std::min(piece, bytes.size()));
      while (!stream.output().empty()) stream.sent(stream.output().size());
    }
    if (fed) fed = stream.closed();
    if (fed) answer = stream.take_message();
  }
  const Error& error() const { return fed ? answer.error() : fed.error(); }
};

}  // namespace

TEST_CASE("capture: a call is put as gRPC wants it") {
  GrpcStream stream(request());
  const std::string out(stream.output());
  CHECK(out.starts_with("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
  CHECK(out.ends_with(message("question", 8)));
  stream.sent(10);
  CHECK(stream.output() == std::string_view(out).substr(10));
  stream.sent(out.size());
  CHECK(stream.output().empty());
}

TEST_CASE("capture: an answer is the same however it is cut") {
  const std::string bytes =
      kHead + body(message("an", 6)) + frame(6, 0, 0, "12345678") + body("swer") + kTrailers;
  for (const size_t piece : {size_t{1}, size_t{2}, size_t{7}, size_t{64}, bytes.size()}) {
    CAPTURE(piece);
    const Conversation told(bytes, piece);
    REQUIRE(told.answer);
    CHECK(*told.answer == "answer");
  }
}

TEST_CASE("capture: hostile and broken answers end in a sentence") {
  const std::string long_name(120, 'x');
  std::string flood = kSettings;
  for (int i = 0; i < 600; ++i) flood += headers({{":status", "103"}, {long_name, long_name}});
  struct Row {
    std::string what;
    std::string bytes;
    Code code;
    const char* part;
  };
  const auto refused = [](const char* status, const char* text) {
    Pairs pairs = kGood;
    pairs.insert(pairs.end(), {{"grpc-status", status}, {"grpc-message", text}});
    return kSettings + headers(pairs, kEndStream);
  };
  const Row rows[] = {
      {"nothing", "", Code::kCorrupt, "without a word"},
      {"web server", "HTTP/1.1 400 Bad Request\r\n\r\n", Code::kCorrupt, "web server"},
      {"html", "<!DOCTYPE HTML>\n<html>", Code::kCorrupt, "no HTTP/2"},
      {"random", "\x15\x03\x01\x02\x28 and so on", Code::kCorrupt, "no HTTP/2"},
      {"huge frame", kSettings + std::string("\xff\xff\xff\0\0\0\0\0\1", 9), Code::kCorrupt,
       "rules"},
      {"data first", kSettings + body(message("x", 1)), Code::kCorrupt, ""},
      {"bad compression", kSettings + frame(1, 4, 1, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
       Code::kCorrupt, "rules"},
      {"settings only", kSettings, Code::kBusy, "before its answer was complete"},
      {"cut in the message", kHead + body(message("ab", 6)), Code::kBusy, "complete"},
      {"stream reset", kHead + frame(3, 0, 1, std::string("\0\0\0\2", 4)), Code::kBusy, "broke"},
      {"going away", kSettings + frame(7, 0, 0, std::string(8, '\0')), Code::kBusy, "broke"},
      {"pushed stream", kHead + frame(5, 4, 1, std::string("\0\0\0\2", 4) + literals(kGood)),
       Code::kBusy, "complete"},
      {"claims too much", kHead + body(message("", 1001)), Code::kTooLarge, "1.00 kB"},
      {"sends too much", kHead + body(message(std::string(1001, 'x'), 5)), Code::kTooLarge, ""},
      {"shorter than it says", kHead + body(message("ab", 6)) + kTrailers, Code::kCorrupt,
       "length"},
      {"longer than it says", kHead + body(message("ab", 1)) + kTrailers, Code::kCorrupt, "length"},
      {"no message", kHead + kTrailers, Code::kCorrupt, "no message"},
      {"compressed", kHead + body(message("ab", 2, 1)) + kTrailers, Code::kUnsupported,
       "compressed"},
      {"no status", kHead + body(message("ab", 2), kEndStream), Code::kCorrupt, "no gRPC status"},
      {"a page",
       kSettings + headers({{":status", "404"}, {"content-type", "text/html"}}) +
           body("<html>", kEndStream),
       Code::kCorrupt, "404"},
      {"status no number",
       kHead + body(message("ab", 2)) + headers({{"grpc-status", "99999999999"}}, kEndStream),
       Code::kCorrupt, "no gRPC status"},
      {"header flood", flood, Code::kCorrupt, ""},
      {"unimplemented", refused("12", ""), Code::kUnsupported, "no such call"},
      {"occupied", refused("13", "Another%20profiling session active."), Code::kBusy,
       "somebody else: Another profiling session active."},
      {"unavailable", refused("14", "%ff"), Code::kBusy, "\xef\xbf\xbd"},
      {"deadline", refused("4", ""), Code::kIo, "in time"},
      {"internal", refused("13", "out of memory"), Code::kIo, "status 13): out of memory"},
  };
  for (const Row& row : rows) {
    for (const size_t piece : {size_t{1}, size_t{1} << 20}) {
      CAPTURE(row.what);
      CAPTURE(piece);
      const Conversation told(row.bytes, piece);
      REQUIRE((!told.fed || !told.answer));
      CAPTURE(told.error().text);
      CHECK(told.error().code == row.code);
      CHECK(told.error().text.find(row.part) != std::string::npos);
      CHECK(told.error().text.find("here:1") != std::string::npos);
    }
  }
}

}  // namespace sonde::remote
