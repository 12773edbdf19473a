#include "http/grpc_session.h"

#include <doctest/doctest.h>

#include "capture/remote/grpc_stream.h"

using namespace sonde;

namespace {

remote::GrpcRequest request(std::string message) {
  return {"here:1", "/service/Method", std::move(message), 0, 8 << 20};
}

// Moves bytes both ways in small pieces until neither has anything to say.
void exchange(remote::GrpcStream& client, http::GrpcSession& server) {
  const auto piece = [](std::string_view bytes) { return bytes.substr(0, 1000); };
  for (int round = 0; round < 100000; ++round) {
    const std::string up(piece(client.output()));
    client.sent(up.size());
    REQUIRE(server.feed(as_bytes(up)));
    const std::string down(piece(server.output()));
    server.sent(down.size());
    if (!down.empty()) REQUIRE(client.feed(as_bytes(down)));
    if (up.empty() && down.empty()) return;
  }
}

}  // namespace

TEST_CASE("gRPC server: a call comes out whole and its answer arrives") {
  for (const size_t size : {size_t{0}, size_t{10}, size_t{3} << 20}) {
    CAPTURE(size);
    remote::GrpcStream client(request(std::string(size, 'q')));
    http::GrpcSession server;
    exchange(client, server);
    const auto calls = server.take_calls();
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].path == "/service/Method");
    CHECK(calls[0].message == std::string(size, 'q'));
    server.answer(calls[0].stream, std::vector<std::string>{std::string(size, 'a')});
    exchange(client, server);
    REQUIRE(client.is_done());
    const auto answer = client.take_message();
    REQUIRE(answer);
    CHECK(*answer == std::string(size, 'a'));
    server.answer(calls[0].stream, std::vector<std::string>{"late"});  // nobody waits any more
    exchange(client, server);
  }
}

TEST_CASE("gRPC server: an error arrives as a status with its sentence") {
  remote::GrpcStream client(request("q"));
  http::GrpcSession server;
  exchange(client, server);
  const auto calls = server.take_calls();
  REQUIRE(calls.size() == 1);
  server.answer(calls[0].stream, fail(Code::kNotFound, "no tag 'löss'\n"));
  exchange(client, server);
  REQUIRE(client.is_done());
  CHECK(client.status() == 5);
  const auto answer = client.take_message();
  REQUIRE(!answer);
  CHECK(answer.error().text.find("no tag 'löss'") != std::string::npos);
}

TEST_CASE("gRPC server: who does not speak HTTP/2 is cut off") {
  http::GrpcSession server;
  CHECK(!server.feed(as_bytes("GET / HTTP/1.1\r\nHost: x\r\n\r\n")));
  CHECK(server.take_calls().empty());
}

TEST_CASE("gRPC server: a request that is not one whole message is refused") {
  // Through a client that frames rightly nothing can be wrong, so the bytes are made by hand.
  const auto frame = [](int type, int flags, uint32_t stream, std::string_view payload) {
    std::string out;
    for (const int shift : {16, 8, 0}) out += static_cast<char>(payload.size() >> shift);
    out += static_cast<char>(type);
    out += static_cast<char>(flags);
    for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(stream >> shift);
    return out.append(payload);
  };
  const auto literal = [](std::string_view name, std::string_view value) {
    std::string out(1, '\0');
    out += static_cast<char>(name.size());
    out += name;
    out += static_cast<char>(value.size());
    return out.append(value);
  };
  const std::string start = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, "");
  const std::string headers =
      frame(1, 4, 1,
            literal(":method", "POST") + literal(":scheme", "http") + literal(":path", "/s/M") +
                literal(":authority", "x") + literal("content-type", "application/grpc"));
  for (const std::string& body :
       {std::string(), std::string("\0\0\0", 3), std::string("\0\0\0\0\x09short", 10),
        std::string("\1\0\0\0\1z", 6)}) {
    http::GrpcSession server;
    REQUIRE(server.feed(as_bytes(start + headers + frame(0, 1, 1, body))));
    CHECK(server.take_calls().empty());
    CHECK(server.output().find("grpc") == std::string_view::npos);  // compressed headers
    CHECK(server.output().size() > 20);
  }
}
