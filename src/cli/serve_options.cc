#include "cli/serve_options.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "base/strings.h"
#include "cli/flags.h"
#include "io/remote/remote.h"
#include "io/roots.h"

namespace sonde::cli {
namespace {

tl::unexpected<Error> conflict(std::string text) { return fail(Code::kConflict, std::move(text)); }

std::string home_expanded(std::string path) {
  if (io::scheme_of(path) == "file") return io::absolute_path(path);
  const char* home = std::getenv("HOME");
  if (home && (path == "~" || path.starts_with("~/"))) path.replace(0, 1, home);
  return path;
}

Result<void> check_samples(std::string_view text) {
  for (const std::string_view pair : split(text, ',')) {
    if (trimmed(pair).empty()) continue;
    const size_t equals = pair.find('=');
    int64_t count = 0;
    const std::string_view number = equals == std::string_view::npos ? "" : pair.substr(equals + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), count);
    if (error != std::errc() || end != number.data() + number.size() || count < 0) {
      return fail(
          Code::kInvalid,
          fmt::format("write plugin=count, for example scalars=500,images=0, not '{}'", pair));
    }
  }
  return {};
}

void add_obsolete(Flags& flags) {
  using Takes = Flags::Takes;
  const auto nothing = [&](std::string_view name, std::string_view why) {
    flags.obsolete(name, Takes::kValue, why);
  };
  nothing("load_fast", "does nothing: there is one loader and it is the fast one");
  nothing("extra_data_server_flags", "does nothing: there is no separate data server");
  nothing("grpc_creds_type", "does nothing: there is no separate data server");
  nothing("grpc_data_provider", "does nothing: there is no separate data server");
  nothing("db", "does nothing: TensorBoard removed its database");
  flags.obsolete("db_import", Takes::kNothing, "does nothing: TensorBoard removed its database");
  nothing("max_reload_threads", "does nothing: loading uses every core");
  nothing("reload_multifile", "does nothing: every file of a run is always followed");
  nothing("reload_multifile_inactive_secs",
          "does nothing: every file of a run is always followed, however old");
  nothing("generic_data", "does nothing, as in TensorBoard");
  nothing("detect_file_replacement", "does nothing: replaced files are always noticed");
  nothing("master_tpu_unsecure_channel",
          "does nothing: profiler servers are named by their address");
}

void add_flags(Flags& flags, ServeOptions& o, std::string& port, std::string& reload_task,
               std::optional<bool>& reuse_port, std::optional<bool>& purge,
               std::string& positional) {
  flags.parsed("logdir", [&o](std::string_view text) -> Result<void> {
    if (o.logdir.empty()) {
      o.logdir = text;
    } else {
      o.more_logdirs.emplace_back(text);
    }
    return {};
  });
  flags.text("logdir_spec", o.logdir_spec);
  flags.text("store", o.store);
  flags.text("project", o.project);
  flags.text("host", o.host);
  flags.on("bind_all", o.bind_all);
  flags.text("port", port);
  flags.boolean("reuse_port", reuse_port);
  flags.text("path_prefix", o.path_prefix);
  flags.text("window_title", o.window_title);
  flags.parsed("samples_per_plugin", [&o](std::string_view text) -> Result<void> {
    o.samples_per_plugin = text;
    return check_samples(text);
  });
  flags.real("reload_interval", o.reload_interval_s, 0);
  flags.choice("reload_task", reload_task, {"auto", "thread", "process", "blocking"});
  flags.boolean("purge_orphaned_data", purge);
  flags.on("inspect", o.inspect);
  flags.text("tag", o.tag);
  flags.text("event_file", o.event_file);
  flags.on("version_tb", o.prints_version);
  flags.on("version", o.prints_version);
  flags.choice("auth", o.auth, {"auto", "token", "none"});
  flags.text("auth_token_file", o.auth_token_file);
  flags.text("users", o.users_file);
  flags.text("user_header", o.user_header);
  flags.text("audit_log", o.audit_log);
  flags.text("certfile", o.certfile);
  flags.text("keyfile", o.keyfile);
  flags.text("unix_socket", o.unix_socket);
  flags.list("allow_host", o.allow_hosts);
  flags.list("frame_ancestors", o.frame_ancestors);
  flags.list("allow_connect", o.allow_connect);
  flags.real("keep_uploads", o.keep_uploads_s, 1);
  flags.choice("compression", o.compression, {"auto", "always", "never"});
  flags.text("sidecar", o.sidecar);
  flags.on("read_only", o.read_only);
  flags.bytes("max_memory", o.max_memory_bytes);
  flags.on("index", o.keeps_index);
  flags.text("index_dir", o.index_dir);
  flags.list("whatif_data", o.whatif_data);
  flags.list("whatif_endpoint", o.whatif_endpoints);
  flags.positional("logdir", positional);
}

Result<void> read_port(const std::string& text, ServeOptions& o) {
  if (text.empty() || text == "default") return {};
  int64_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port < 0) {
    return fail(Code::kInvalid, fmt::format("argument --port: invalid int value: '{}'", text));
  }
  o.port = port;  // beyond 65535 is reported when binding, with TensorBoard's exit code
  o.port_is_default = false;
  return {};
}

// A directory named without --logdir must be there: it is often a mistyped command.
Result<void> take_positional(const std::string& typed, ServeOptions& o) {
  if (typed.empty()) return {};
  if (!o.logdir.empty() || !o.logdir_spec.empty()) {
    return conflict(fmt::format("'{}' and --logdir are both given; name one log directory", typed));
  }
  std::error_code error;
  if (std::filesystem::exists(home_expanded(typed), error)) {
    o.logdir = typed;
    return {};
  }
  if (typed.find('/') == std::string::npos) {
    return fail(Code::kInvalid, fmt::format("'{}' is neither a command nor a directory; see sonde "
                                            "--help, or wait for the directory with --logdir {}",
                                            typed, typed));
  }
  return conflict(fmt::format(
      "there is no directory '{}'; check the path, or wait for it with --logdir {}", typed, typed));
}

Result<void> check(ServeOptions& o) {
  if (!o.logdir.empty() && !o.logdir_spec.empty()) {
    return conflict("give either --logdir or --logdir_spec, not both");
  }
  if (!o.store.empty() && !(o.logdir.empty() && o.logdir_spec.empty())) {
    return conflict("give either --store or a log directory, not both");
  }
  if (!o.host.empty() && o.bind_all) return conflict("give either --host or --bind_all, not both");
  if (!o.path_prefix.empty() && o.path_prefix[0] != '/') {
    return conflict(
        fmt::format("--path_prefix must start with a slash, but got '{}'", o.path_prefix));
  }
  while (o.path_prefix.ends_with('/')) o.path_prefix.pop_back();
  if (o.certfile.empty() != o.keyfile.empty()) {
    return conflict("--certfile and --keyfile belong together; give both");
  }
  if (!o.users_file.empty() && (o.auth == "none" || !o.auth_token_file.empty())) {
    return conflict(
        "--users has a token for each user: leave out --auth none and --auth_token_file");
  }
  if (!o.user_header.empty() && o.users_file.empty()) {
    return conflict("--user_header names users of a file: add --users FILE");
  }
  if (o.auth == "none" && !o.auth_token_file.empty()) {
    return conflict("--auth none and --auth_token_file contradict each other");
  }
  if (o.inspect) {
    if (!o.logdir_spec.empty()) return conflict("--logdir_spec is not supported with --inspect");
    if (o.logdir.empty() == o.event_file.empty()) {
      return conflict("--inspect needs either --logdir or --event_file");
    }
    return {};
  }
  if (o.logdir.empty() && o.logdir_spec.empty() && o.store.empty()) {
    return conflict("give a log directory: sonde LOGDIR, or sonde --logdir LOGDIR");
  }
  return {};
}

}  // namespace

Result<ServeOptions> parse_serve_options(const Args& args) {
  ServeOptions o;
  std::string port, reload_task = "auto", positional;
  std::optional<bool> reuse_port, purge;
  Flags flags("sonde");
  add_flags(flags, o, port, reload_task, reuse_port, purge, positional);
  add_obsolete(flags);
  if (auto parsed = flags.parse(args); !parsed) return fail(std::move(parsed).error());
  o.notes = flags.notes();
  if (o.prints_version) return o;
  if (auto read = read_port(port, o); !read) return fail(std::move(read).error());
  if (auto taken = take_positional(positional, o); !taken) return fail(std::move(taken).error());
  o.reuse_port = reuse_port.value_or(false);
  o.purge_orphaned_data = purge.value_or(true);
  if (reload_task == "blocking") {
    if (o.reload_interval_s != 0) {
      return conflict("--reload_task blocking needs --reload_interval 0");
    }
    o.loads_before_serving = true;
  }
  if (auto checked = check(o); !checked) return fail(std::move(checked).error());
  return o;
}

std::vector<store::Options::Root> roots_of(const ServeOptions& options) {
  std::vector<store::Options::Root> roots;
  if (!options.store.empty()) return roots;
  if (options.logdir_spec.empty()) {
    std::vector<std::string> typed = {home_expanded(options.logdir)};
    for (const std::string& more : options.more_logdirs) typed.push_back(home_expanded(more));
    for (io::ScanRoot& root : io::named_roots(typed))
      roots.push_back({std::move(root.name), std::move(root.path)});
    return roots;
  }
  for (const std::string_view part : split(options.logdir_spec, ',')) {
    if (part.empty()) continue;
    // A colon names the run, unless it is the one of a scheme ("s3://") or follows a slash.
    const size_t colon = part.find(':');
    const bool is_named = colon != std::string_view::npos && colon > 0 &&
                          !part.substr(colon).starts_with("://") &&
                          part.substr(0, colon).find('/') == std::string_view::npos;
    roots.push_back({std::string(is_named ? part.substr(0, colon) : ""),
                     home_expanded(std::string(is_named ? part.substr(colon + 1) : part))});
  }
  return roots;
}

}  // namespace sonde::cli
