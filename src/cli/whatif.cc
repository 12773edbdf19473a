// `sonde whatif --data FILE`: serves the page What-If for a file of examples. It writes a
// whatif.json into Sonde's own folder and serves that as a log directory; the same file beside runs
// does the same.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/sha256.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/serve.h"
#include "codec/json.h"
#include "io/scan.h"
#include "io/write_file.h"

namespace sonde::cli {
namespace {

constexpr std::string_view kHelp =
    R"(sonde whatif --data FILE: probe a model: what if a feature were different, whom does it fail

  sonde whatif --data test.csv --label approved --predictions score
  sonde whatif --data 'test-*.tfrecord' --label y --predictions scores.csv --key id
  sonde whatif --data test.csv --label y --endpoint http://localhost:8501/v1/models/m:predict
  sonde whatif --data test.csv --label y --model model.onnx

  --data FILE            CSV, JSON lines, a JSON array, TFRecord of tf.train.Example or
                         SequenceExample, NPZ, Parquet; gzip too; a pattern with * in the
                         last part
  --label COLUMN         the truth
  --positive VALUE       the value of it that the score speaks of (default: 1, yes, true ...)
  --predictions WHAT     a column of scores, or a second file; may be repeated for one model's
                         columns
  --key COLUMN           joins a second file by this column (default: by order)
  --attributions FILE    how much each feature moved each prediction: a column for each feature
  --task KIND            regression, binary or multiclass (default: told from the data)
  --endpoint URL         a model that can be asked about changed examples; may be repeated
  --protocol NAME        tfserving (default), kserve or template
  --model FILE           an ONNX model, run by Python with onnxruntime
  --session DIR          a folder with a whatif.json, whose endpoints may be asked: what
                         sonde.whatif() of the Python package starts
  --max_examples N       examples to read (default 100000)
  --port N               as in sonde serve

docs/whatif.md says more.
)";

struct Options {
  std::string data, label, positive, key, attributions, task, protocol = "tfserving", model,
                                                              session, port;
  std::vector<std::string> predictions, endpoints;
  int64_t max_examples = 100'000;
};

std::string whole_path(const std::string& path) { return io::absolute_path(path); }

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key).array([&] {
    for (const std::string& text : texts) json.string(text);
  });
}

std::string config_text(const Options& o) {
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("data").string(whole_path(o.data));
    json.key("name").string(std::filesystem::path(o.data).filename().string());
    if (!o.label.empty()) json.key("label").string(o.label);
    if (!o.positive.empty()) json.key("positive").string(o.positive);
    json.key("max_examples").number(o.max_examples);
    if (o.predictions.empty() && o.endpoints.empty()) return;
    json.key("models").array([&] {
      if (!o.predictions.empty()) {
        std::error_code ignored;
        const bool is_file = o.predictions.size() == 1 &&
                             std::filesystem::is_regular_file(o.predictions[0], ignored);
        json.object([&] {
          json.key("name").string("model");
          if (is_file)
            json.key("file").string(whole_path(o.predictions[0]));
          else
            write_texts(json, "columns", o.predictions);
          if (!o.key.empty()) json.key("key").string(o.key);
          if (!o.attributions.empty()) json.key("attributions").string(whole_path(o.attributions));
          if (!o.task.empty()) json.key("task").string(o.task);
        });
      }
      for (const std::string& url : o.endpoints) {
        json.object([&] {
          json.key("name").string(o.endpoints.size() == 1 ? "live" : url);
          json.key("url").string(url);
          json.key("protocol").string(o.protocol);
          if (!o.task.empty()) json.key("task").string(o.task);
        });
      }
    });
  });
  return out;
}

Args serve_args(const std::string& folder, const Options& o) {
  Args args{"--logdir", folder};
  const auto allow_folder = [&](const std::string& path) {
    args.push_back("--whatif_data");
    args.push_back(std::filesystem::path(whole_path(path)).parent_path().string());
  };
  if (!o.data.empty()) allow_folder(o.data);
  if (!o.attributions.empty()) allow_folder(o.attributions);
  std::error_code ignored;
  for (const std::string& file : o.predictions)
    if (std::filesystem::is_regular_file(file, ignored)) allow_folder(file);
  for (const std::string& url : o.endpoints) {
    args.push_back("--whatif_endpoint");
    args.push_back(url);
  }
  if (!o.port.empty()) {
    args.push_back("--port");
    args.push_back(o.port);
  }
  return args;
}

// The Python side reads the model and starts this program again with --session.
int start_python(const Options& o) {
  const char* named = std::getenv("SONDE_PYTHON");
  const std::string python = named && *named ? named : "python3";
  const std::string check = fmt::format("{} -c 'import onnxruntime, sonde' 2>/dev/null", python);
  if (std::system(check.c_str()) != 0)
    return failed(
        fmt::format("a model in a file is run by Python: {} needs onnxruntime and sonde; install "
                    "them with: {} -m pip install onnxruntime sonde-board",
                    python, python));
  Args args{python, "-m", "sonde.whatif", "--model", o.model, "--data", o.data};
  const auto add = [&](std::string_view flag, const std::string& value) {
    if (value.empty()) return;
    args.emplace_back(flag);
    args.push_back(value);
  };
  add("--label", o.label);
  add("--positive", o.positive);
  add("--port", o.port);
  std::error_code ignored;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (!ignored) ::setenv("SONDE_BINARY", self.c_str(), 0);
  std::vector<char*> raw;
  for (std::string& arg : args) raw.push_back(arg.data());
  raw.push_back(nullptr);
  ::execvp(raw[0], raw.data());
  return failed(fmt::format("cannot start {}", python));
}

// Whoever started the session holds the other end of a pipe: when it is gone, however it ended,
// nobody needs the page any more.
void end_with_caller() {
  struct stat about{};
  if (::fstat(STDIN_FILENO, &about) != 0 || !S_ISFIFO(about.st_mode)) return;
  std::thread([] {
    char ignored[64];
    ssize_t got = 0;
    while ((got = ::read(STDIN_FILENO, ignored, sizeof ignored)) > 0 || (got < 0 && errno == EINTR))
      continue;
    ::kill(::getpid(), SIGTERM);
  }).detach();
}

}  // namespace

int whatif_command(const Args& args) {
  Options o;
  bool help = false;
  Flags flags("sonde whatif");
  flags.text("data", o.data);
  flags.text("label", o.label);
  flags.text("positive", o.positive);
  flags.list("predictions", o.predictions);
  flags.text("key", o.key);
  flags.text("attributions", o.attributions);
  flags.choice("task", o.task, {"regression", "binary", "multiclass"});
  flags.list("endpoint", o.endpoints);
  flags.choice("protocol", o.protocol, {"tfserving", "kserve", "template"});
  flags.text("model", o.model);
  flags.text("session", o.session);
  flags.integer("max_examples", o.max_examples, 1, 10'000'000);
  flags.text("port", o.port);
  flags.on("help", help);
  flags.on("h", help);
  flags.positional("data", o.data);
  if (const auto parsed = flags.parse(args); !parsed) return failed(parsed.error().text, 2);
  if (help) {
    fmt::print("{}", kHelp);
    return 0;
  }
  if (!o.session.empty()) {
    end_with_caller();
    return serve(serve_args(o.session, o));
  }
  if (o.data.empty()) return failed("whatif needs examples: sonde whatif --data test.csv", 2);
  if (!o.model.empty()) return start_python(o);
  std::error_code ignored;
  if (o.data.find_first_of("*?") == std::string::npos &&
      !std::filesystem::is_regular_file(o.data, ignored))
    return failed(fmt::format("there is no file '{}'", o.data));
  const std::string state = io::state_folder();
  if (state.empty())
    return failed("there is no folder to keep the settings in: set HOME or XDG_STATE_HOME");
  const std::string folder =
      fmt::format("{}/whatif/{}", state, sha256_hex(whole_path(o.data)).substr(0, 12));
  std::filesystem::create_directories(folder, ignored);
  if (const auto written = io::write_whole(folder + "/whatif.json", config_text(o)); !written)
    return failed(written.error().text);
  return serve(serve_args(folder, o));
}

}  // namespace sonde::cli
