#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "base/strings.h"
#include "cli/binding.h"
#include "cli/help.h"
#include "cli/info_file.h"
#include "cli/progress.h"
#include "cli/serve_options.h"

using namespace sonde;
using namespace sonde::cli;

TEST_CASE("Help: fits two screens") {
  const std::string text = help();
  CHECK(std::ranges::count(text, '\n') <= 48);
  for (const std::string_view line : split(text, '\n')) {
    CAPTURE(line);
    CHECK(line.size() <= 80);
  }
}

TEST_CASE("Serve: every flag of TensorBoard is taken") {
  const auto options = parse_serve_options({"--logdir",
                                            "logs",
                                            "--host",
                                            "127.0.0.1",
                                            "--port",
                                            "7000",
                                            "--reuse_port",
                                            "true",
                                            "--load_fast",
                                            "false",
                                            "--extra_data_server_flags",
                                            "x",
                                            "--grpc_creds_type",
                                            "ssl",
                                            "--grpc_data_provider",
                                            "a:1",
                                            "--purge_orphaned_data",
                                            "false",
                                            "--db",
                                            "x",
                                            "--db_import",
                                            "--tag",
                                            "t",
                                            "--path_prefix",
                                            "/p/",
                                            "--window_title",
                                            "w",
                                            "--max_reload_threads",
                                            "4",
                                            "--reload_interval",
                                            "0.5",
                                            "--reload_task",
                                            "thread",
                                            "--reload_multifile",
                                            "true",
                                            "--reload_multifile_inactive_secs",
                                            "-1",
                                            "--generic_data",
                                            "auto",
                                            "--samples_per_plugin",
                                            "scalars=500,images=0",
                                            "--detect_file_replacement",
                                            "true",
                                            "--master_tpu_unsecure_channel",
                                            "a"});
  REQUIRE(options);
  CHECK(options->logdir == "logs");
  CHECK(options->port == 7000);
  CHECK_FALSE(options->port_is_default);
  CHECK(options->reuse_port);
  CHECK_FALSE(options->purge_orphaned_data);
  CHECK(options->path_prefix == "/p");
  CHECK(options->reload_interval_s == 0.5);
  CHECK(options->samples_per_plugin == "scalars=500,images=0");
  CHECK(options->notes.size() == 12);
}

TEST_CASE("Serve: a wrong command line is one sentence and an exit code") {
  struct Case {
    Args args;
    Code code;  // kInvalid: exit 2, kConflict: exit 1
    std::string_view part;
  };
  const Case cases[] = {
      {{}, Code::kConflict, "give a log directory"},
      {{"--logdir", "a", "--logdir_spec", "b:c"}, Code::kConflict, "not both"},
      {{"--logdir", "a", "--host", "h", "--bind_all"}, Code::kConflict, "not both"},
      {{"--logdir", "a", "--path_prefix", "foo"}, Code::kConflict, "must start with a slash"},
      {{"--logdir", "a", "--certfile", "c"}, Code::kConflict, "belong together"},
      {{"--logdir", "a", "--reload_task", "blocking"}, Code::kConflict, "--reload_interval 0"},
      {{"--inspect"}, Code::kConflict, "either --logdir or --event_file"},
      {{"--inspect", "--logdir_spec", "a:b"}, Code::kConflict, "not supported"},
      {{"--logdir", "a", "--samples_per_plugin", "scalars"}, Code::kInvalid, "scalars=500"},
      {{"--logdir", "a", "--port", "x"}, Code::kInvalid, "--port"},
      {{"nosuchcommand"}, Code::kInvalid, "neither a command nor a directory"},
      {{"no/such/dir"}, Code::kConflict, "there is no directory"},
  };
  for (const Case& c : cases) {
    const auto options = parse_serve_options(c.args);
    CAPTURE(c.part);
    REQUIRE_FALSE(options);
    CHECK(options.error().code == c.code);
    CHECK(options.error().text.find(c.part) != std::string::npos);
  }
}

TEST_CASE("Serve: roots of --logdir_spec have names") {
  ServeOptions options;
  options.logdir_spec = "a:/x/y,/z,b:rel,s3://bucket/k,/with:colon";
  const auto roots = roots_of(options);
  REQUIRE(roots.size() == 5);
  CHECK(roots[0].name == "a");
  CHECK(roots[0].path == "/x/y");
  CHECK(roots[1].name == "");
  CHECK(roots[2].path == "rel");
  CHECK(roots[3].path == "s3://bucket/k");
  CHECK(roots[4].path == "/with:colon");
}

TEST_CASE("Serve: who can reach it decides about the token") {
  ServeOptions options;
  auto binding = binding_of(options);
  REQUIRE(binding);
  CHECK(binding->is_loopback);
  CHECK(access_of(options, *binding)->token.empty());
  CHECK(access_of(options, *binding)->check_host);
  CHECK(url_of(options, *binding, 6006, "") == "http://localhost:6006/");
  options.path_prefix = "/p";
  CHECK(url_of(options, *binding, 1, "t") == "http://localhost:1/p/?token=t");

  options.bind_all = true;
  binding = binding_of(options);
  CHECK_FALSE(binding->is_loopback);
  CHECK(access_of(options, *binding)->token.size() == 32);
  options.auth = "none";
  CHECK(access_of(options, *binding)->token.empty());
  CHECK_FALSE(access_of(options, *binding)->check_host);

  ServeOptions v6;
  v6.host = "::1";
  CHECK(url_of(v6, *binding_of(v6), 1, "") == "http://[::1]:1/");
  ServeOptions local;
  local.unix_socket = "/tmp/s";
  CHECK(binding_of(local)->addresses.empty());
}

TEST_CASE("InfoFile: the key equals the one that TensorBoard's manager computes") {
  // python: base64.b64encode(json.dumps({...}, sort_keys=True, separators=(",", ":")).encode())
  CHECK(
      cache_key({"--logdir", "a\"\xc3\xa9\xf0\x9f\x98\x80"}, "/x") ==
      "eyJhcmd1bWVudHMiOlsiLS1sb2dkaXIiLCJhXCJcdTAwZTlcdWQ4M2RcdWRlMDAiXSwiY29uZmlndXJlX2t3YXJncyI6"
      "e30sIndvcmtpbmdfZGlyZWN0b3J5IjoiL3gifQ==");
}

TEST_CASE("Progress: the line says how far, how fast, how long") {
  store::LoadProgress p;
  p.files = 120;
  p.files_done = 12;
  p.bytes = 10'400'000'000;
  p.bytes_done = 1'200'000'000;
  p.points = 34'000'000;
  CHECK(progress_text(p, std::chrono::duration<double>(0.1)) ==
        "loading 12 of 120 files, 1.20 GB of 10.4 GB, 34 000 000 points");
  CHECK(progress_text(p, std::chrono::duration<double>(1)) ==
        "loading 12 of 120 files, 1.20 GB of 10.4 GB, 34 000 000 points, 1.20 GB/s, 8 s left");
}
