// The flags of `sonde serve`: TensorBoard's, each with its meaning or a note why it has none any
// more, and Sonde's own. docs/cli.md describes them all.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/commands.h"
#include "log/store/store.h"

namespace sonde::cli {

struct ServeOptions {
  std::string logdir, logdir_spec;
  std::vector<std::string> more_logdirs;   // --logdir given again
  std::string store, project = "default";  // a team's tables instead of a log directory
  std::string host;                        // empty: loopback
  bool bind_all = false;
  int64_t port = 6006;
  bool port_is_default = true;  // 6006 and upward until one is free
  bool reuse_port = false;
  std::string path_prefix;  // "" or "/prefix"
  std::string window_title, samples_per_plugin;
  double reload_interval_s = 5;
  bool loads_before_serving = false;  // --reload_task blocking
  bool purge_orphaned_data = true;
  bool inspect = false;
  std::string tag, event_file;  // of --inspect
  bool prints_version = false;

  std::string auth = "auto", auth_token_file;
  std::string users_file, user_header, audit_log;
  std::string certfile, keyfile, unix_socket;
  std::vector<std::string> allow_hosts, allow_connect;
  std::vector<std::string> frame_ancestors;  // further sites that may show the page in a frame
  double keep_uploads_s = 600;
  std::string compression = "auto";
  std::string sidecar;
  bool read_only = false;
  uint64_t max_memory_bytes = 0;
  bool keeps_index = false;  // beside the logs
  std::string index_dir;     // or there
  std::vector<std::string> whatif_data, whatif_endpoints;

  std::vector<std::string> notes;  // about flags that do nothing any more
};

// kInvalid: the command line is wrong (exit 2); kConflict: flags contradict each other (exit 1).
Result<ServeOptions> parse_serve_options(const Args& args);

// The roots named by --logdir or --logdir_spec ("name:path,name2:path2"), `~` expanded.
std::vector<store::Options::Root> roots_of(const ServeOptions& options);

}  // namespace sonde::cli
