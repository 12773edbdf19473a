#include "api/mcp/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/mcp/tool.h"
#include "codec/base64.h"
#include "codec/json.h"
#include "codec/json_read.h"
#include "sonde/version.h"

namespace sonde::api::mcp {
namespace {

constexpr std::string_view kModern = "2026-07-28";
constexpr std::array<std::string_view, 4> kHandshake = {"2025-11-25", "2025-06-18", "2025-03-26",
                                                        "2024-11-05"};
constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view kServerInfoKey = "io.modelcontextprotocol/serverInfo";

constexpr int kParseError = -32700, kInvalidRequest = -32600, kNoMethod = -32601,
              kInvalidParams = -32602, kHeaderMismatch = -32020, kUnsupportedVersion = -32022;

constexpr std::string_view kInstructions =
    "Sonde reads the logs of training runs: curves, hyperparameters, tables of samples, console "
    "output, and profiles. Nothing is sampled away: numbers are exact, and an answer that had to "
    "leave something out says so in 'left_out' or 'thinned'. Start with 'overview'. Every tool "
    "takes 'max_tokens' (default 2000).";

struct Rpc {
  JsonValue id;
  bool modern = false;
};

void append_server_info(std::string& out) {
  out += fmt::format(R"({{"name":"sonde","title":"Sonde","version":"{}"}})", SONDE_VERSION);
}

int http_status(int code, bool modern) {
  if (code == kNoMethod) return modern ? 404 : 200;
  switch (code) {
    case kParseError:
    case kInvalidRequest:
    case kInvalidParams:
    case kHeaderMismatch:
    case kUnsupportedVersion:
      return 400;
    default:
      return 200;
  }
}

Reply error_reply(const Rpc& rpc, int code, std::string_view text, std::string_view data = "") {
  Reply reply;
  reply.status = http_status(code, rpc.modern);
  reply.body = R"({"jsonrpc":"2.0","id":)" + to_text(rpc.id) +
               fmt::format(R"(,"error":{{"code":{},"message":)", code);
  append_json_string(reply.body, text);
  if (!data.empty()) reply.body += ",\"data\":" + std::string(data);
  reply.body += "}}";
  return reply;
}

// `members` of the result as JSON without braces.
Reply result_reply(const Rpc& rpc, std::string_view members, bool is_cacheable = false) {
  Reply reply;
  reply.body = R"({"jsonrpc":"2.0","id":)" + to_text(rpc.id) + R"(,"result":{)";
  reply.body += members;
  if (rpc.modern) {
    if (!members.empty()) reply.body += ',';
    reply.body += R"("resultType":"complete",)";
    if (is_cacheable) reply.body += R"("ttlMs":600000,"cacheScope":"public",)";
    reply.body += fmt::format(R"("_meta":{{"{}":)", kServerInfoKey);
    append_server_info(reply.body);
    reply.body += "}";
  }
  reply.body += "}}";
  return reply;
}

constexpr std::string_view kCapabilities = R"("capabilities":{"tools":{}})";

Reply initialize(const Rpc& rpc, const JsonValue* params) {
  const JsonValue* asked = params ? params->find("protocolVersion") : nullptr;
  std::string_view version = kHandshake.front();
  if (asked && std::ranges::count(kHandshake, asked->text) > 0) version = asked->text;
  std::string out =
      fmt::format(R"("protocolVersion":"{}",{},"serverInfo":)", version, kCapabilities);
  append_server_info(out);
  out += R"(,"instructions":)";
  append_json_string(out, kInstructions);
  return result_reply(rpc, out);
}

Reply discover(const Rpc& rpc) {
  std::string out =
      fmt::format(R"("supportedVersions":["{}"],{},"instructions":)", kModern, kCapabilities);
  append_json_string(out, kInstructions);
  return result_reply(rpc, out, true);
}

Reply list_tools(const Rpc& rpc, bool may_write) {
  std::string out = R"("tools":[)";
  bool first = true;
  for (const Tool* tool : all_tools(may_write)) {
    if (!first) out += ',';
    first = false;
    out += fmt::format(R"({{"name":"{}","title":)", tool->name);
    append_json_string(out, tool->title);
    out += R"(,"description":)";
    append_json_string(out, tool->description);
    out += R"(,"inputSchema":{"type":"object","properties":{)";
    out += tool->properties;
    if (!tool->properties.empty()) out += ',';
    out += fmt::format(
        R"j("max_tokens":{{"type":"integer","minimum":{},"maximum":{},"description":"size of the answer (default {})"}}}})j",
        kLeastTokens, kMostTokens, kUsualTokens);
    if (!tool->required.empty()) out += ",\"required\":" + std::string(tool->required);
    out += fmt::format(
        R"(}},"annotations":{{"readOnlyHint":{},"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}}})",
        !tool->writes);
  }
  out += "]";
  return result_reply(rpc, out, true);
}

Reply call_tool(const Context& context, const Rpc& rpc, const JsonValue* params, bool may_write) {
  const JsonValue* name = params ? params->find("name") : nullptr;
  if (!name || !name->is_string())
    return error_reply(rpc, kInvalidParams, "params.name must be the name of a tool");
  const auto tools = all_tools(may_write);
  const auto tool = std::ranges::find(tools, name->text, &Tool::name);
  if (tool == tools.end())
    return error_reply(rpc, kInvalidParams, fmt::format("there is no tool '{}'", name->text));
  static const JsonValue nothing = JsonValue::object();
  const JsonValue* arguments = params->find("arguments");
  if (arguments && !arguments->is_object())
    return error_reply(rpc, kInvalidParams, "params.arguments must be an object");
  std::string png;
  Call call{context, arguments ? *arguments : nothing, 0, &png};
  const auto tokens = call.integer("max_tokens", kUsualTokens, kLeastTokens, kMostTokens);
  Result<std::string> answer = fail(Code::kInvalid, "");
  if (tokens) {
    call.budget_bytes = static_cast<size_t>(*tokens) * kBytesPerToken;
    answer = (*tool)->call(call);
  } else {
    answer = fail(tokens.error());
  }
  std::string out = R"("content":[{"type":"text","text":)";
  append_json_string(out, answer ? *answer : answer.error().text);
  out += "}";
  if (answer && !png.empty())
    out += R"(,{"type":"image","mimeType":"image/png","data":")" + base64(png) + "\"}";
  out += fmt::format(R"(],"isError":{})", !answer);
  return result_reply(rpc, out);
}

// What a self-contained request must carry; an empty text when it does.
std::optional<Reply> refusal(const Rpc& rpc, std::string_view method, const JsonValue& params,
                             const JsonValue& meta, const Request* http) {
  const JsonValue* version = meta.find(kVersionKey);
  if (!version || !meta.find(kCapabilitiesKey)) {
    return error_reply(rpc, kInvalidParams,
                       fmt::format("params._meta needs {} and {}", kVersionKey, kCapabilitiesKey));
  }
  if (http) {
    if (http->header("mcp-protocol-version") != version->text)
      return error_reply(rpc, kHeaderMismatch,
                         "the header mcp-protocol-version does not match params._meta");
    if (http->header("mcp-method") != method)
      return error_reply(rpc, kHeaderMismatch, "the header mcp-method does not match the method");
    const JsonValue* name = method == "tools/call" ? params.find("name") : nullptr;
    if (name && http->header("mcp-name") != name->text)
      return error_reply(rpc, kHeaderMismatch, "the header mcp-name does not match params.name");
  }
  if (!version->is_string())
    return error_reply(rpc, kInvalidParams, "the protocol version must be a text");
  if (version->text != kModern) {
    std::string data = fmt::format(R"({{"supported":["{}"],"requested":)", kModern);
    append_json_string(data, version->text);
    data += "}";
    return error_reply(rpc, kUnsupportedVersion, "this protocol version is not supported", data);
  }
  return std::nullopt;
}

}  // namespace

Reply reply_to(const Context& context, std::string_view message, const Request* http,
               bool may_write) {
  Rpc rpc;
  const auto read = read_json(message);
  if (!read) return error_reply(rpc, kParseError, "the message is not JSON: " + read.error().text);
  const JsonValue* version = read->find("jsonrpc");
  if (!read->is_object() || !version || version->text != "2.0")
    return error_reply(rpc, kInvalidRequest, "a message is one JSON-RPC 2.0 object");
  const JsonValue* method = read->find("method");
  const JsonValue* id = read->find("id");
  if (id && !id->is_string() && !id->is_number())
    return error_reply(rpc, kInvalidRequest, "an id is a text or a number");
  if (id) rpc.id = *id;
  if (!method || !method->is_string()) {
    const bool is_response = id && (read->find("result") || read->find("error"));
    if (is_response) return {"", 202};
    return error_reply(rpc, kInvalidRequest, "a request has a method");
  }
  if (!id) return {"", 202};  // notifications have nothing to act on here

  const JsonValue* params = read->find("params");
  if (params && !params->is_object())
    return error_reply(rpc, kInvalidParams, "params must be an object");
  const JsonValue* meta = params ? params->find("_meta") : nullptr;
  const bool says_modern = http && http->header("mcp-protocol-version") == kModern;
  rpc.modern = method->text != "initialize" && ((meta && meta->find(kVersionKey)) || says_modern);
  if (rpc.modern) {
    static const JsonValue nothing = JsonValue::object();
    if (auto refused =
            refusal(rpc, method->text, params ? *params : nothing, meta ? *meta : nothing, http))
      return *refused;
  }
  if (method->text == "initialize") return initialize(rpc, params);
  if (method->text == "server/discover" && rpc.modern) return discover(rpc);
  if (method->text == "ping" && !rpc.modern) return result_reply(rpc, "");
  if (method->text == "tools/list") return list_tools(rpc, may_write);
  if (method->text == "tools/call") return call_tool(context, rpc, params, may_write);
  return error_reply(rpc, kNoMethod, fmt::format("there is no method '{}'", method->text));
}

namespace {

Answer post_message(const Context& context, const Request& request) {
  const Reply reply = reply_to(context, request.body, &request);
  Answer answer = Answer::json(reply.body);
  answer.status = reply.status;
  answer.cache = Cache::kNoStore;
  if (reply.body.empty()) answer.content_type = "text/plain";
  return answer;
}

constexpr Route kRoutes[] = {{"POST", "/mcp", post_message}};

}  // namespace

std::span<const Route> area() { return kRoutes; }

}  // namespace sonde::api::mcp
