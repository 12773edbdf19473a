// TensorBoard's own routes: runs, environment, which dashboards have data.
#include "api/tensorboard/core.h"

#include <algorithm>
#include <set>

#include "api/tensorboard/areas.h"
#include "api/tensorboard/shared.h"
#include "sonde/version.h"

namespace sonde::api::tensorboard {
namespace {

Answer runs(const Context& context, const Request&) {
  const auto snapshot = context.store.snapshot();
  std::string out;
  JsonWriter json(out);
  json.array([&] {
    for (const auto& run : snapshot->runs) json.string(run->name);
  });
  return Answer::json(std::move(out));
}

Answer empty_list(const Context&, const Request&) { return Answer::json("[]"); }

Answer logdir(const Context& context, const Request&) {
  std::string out;
  JsonWriter json(out);
  json.object([&] { json.key("logdir").string(context.settings.logdir); });
  return Answer::json(std::move(out));
}

Answer window_properties(const Context& context, const Request&) {
  std::string out;
  JsonWriter json(out);
  json.object([&] { json.key("window_title").string(context.settings.window_title); });
  return Answer::json(std::move(out));
}

Answer environment(const Context& context, const Request&) {
  const Settings& settings = context.settings;
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("version").string("2.21.0+sonde" SONDE_VERSION);
    json.key("data_location").string(settings.logdir);
    json.key("window_title").string(settings.window_title);
    json.key("experiment_name").string("");
    json.key("experiment_description").string("");
    json.key("creation_time").number(0.0);
    json.key("debug").object([&] {
      json.key("data_provider").string("Sonde " SONDE_VERSION);
      json.key("flags").object([&] {
        json.key("logdir").string(settings.logdir);
        json.key("path_prefix").string(settings.path_prefix);
        json.key("window_title").string(settings.window_title);
        json.key("samples_per_plugin").string(settings.samples_per_plugin);
      });
    });
  });
  return Answer::json(std::move(out));
}

struct Listed {
  std::string_view name, tab, element;  // element "" = built into the page, "*" = in an iframe
  bool is_static;                       // not reloaded by the page
  std::vector<std::string_view> needs;  // shown when one of these plug-ins has data
};

const std::vector<Listed>& listed() {
  static const std::vector<Listed> plugins = {
      {"timeseries", "Time Series", "", false, {"scalars", "histograms", "images"}},
      {"scalars", "scalars", "tf-scalar-dashboard", false, {"scalars"}},
      {"custom_scalars", "Custom Scalars", "tf-custom-scalar-dashboard", false, {"custom_scalars"}},
      {"images", "images", "tf-image-dashboard", false, {"images"}},
      {"audio", "audio", "tf-audio-dashboard", false, {"audio"}},
      {"debugger-v2", "Debugger V2", "", false, {}},
      {"graphs",
       "graphs",
       "tf-graph-dashboard",
       true,
       {"graphs", "graph_run_metadata", "graph_run_metadata_graph", "graph_keras_model",
        "graph_tagged_run_metadata"}},
      {"distributions", "distributions", "tf-distribution-dashboard", false, {"histograms"}},
      {"histograms", "histograms", "tf-histogram-dashboard", false, {"histograms"}},
      {"text", "text", "tf-text-dashboard", false, {"text"}},
      {"pr_curves", "PR Curves", "tf-pr-curve-dashboard", false, {"pr_curves"}},
      {"profile_redirect", "Profile", "tf-profile-redirect-dashboard", false, {}},
      {"hparams", "hparams", "tf-hparams-dashboard", false, {"hparams"}},
      {"mesh", "mesh", "mesh-dashboard", false, {"mesh"}},
      {"wit_redirect", "What-If Tool", "tf-wit-redirect-dashboard", false, {}},
      {"projector", "projector", "*", true, {"projector"}},
      {"profile", "profile", "*", false, {"profile"}},
  };
  return plugins;
}

using Names = std::set<std::string, std::less<>>;

// Walking every series is remembered for a revision; the other two look at the disk.
Names plugins_with_data(const Context& context, const store::Snapshot& snapshot) {
  Names names =
      *context.services.memo().get<Names>("core/plugins", snapshot.revision, [&](const Names*) {
        Names found;
        for (const auto& run : snapshot.runs) {
          for (const auto& series : run->series) {
            const store::Metadata& metadata = series->metadata();
            if (metadata.data_class != store::DataClass::kUnknown &&
                found.find(metadata.plugin) == found.end()) {
              found.insert(metadata.plugin);
            }
          }
        }
        return found;
      });
  if (has_projector_data(context, snapshot)) names.insert("projector");
  if (has_profile_data(context, snapshot)) names.insert("profile");
  return names;
}

void write_mechanism(JsonWriter& json, const Listed& plugin, const std::string& prefix) {
  json.key("loading_mechanism").object([&] {
    if (plugin.element.empty()) {
      json.key("type").string("NG_COMPONENT");
    } else if (plugin.element == "*") {
      json.key("type").string("IFRAME");
      json.key("module_path")
          .string(prefix + "/data/plugin/" + std::string(plugin.name) + "/index.js");
    } else {
      json.key("type").string("CUSTOM_ELEMENT");
      json.key("element_name").string(plugin.element);
    }
  });
}

Answer plugins_listing(const Context& context, const Request& request) {
  const auto snapshot = context.store.snapshot();
  const Names present = plugins_with_data(context, *snapshot);
  std::string prefix = context.settings.path_prefix;
  if (!request.experiment.empty()) prefix += "/experiment/" + request.experiment;
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    for (const Listed& plugin : listed()) {
      json.key(plugin.name).object([&] {
        json.key("disable_reload").boolean(plugin.is_static);
        json.key("enabled").boolean(std::any_of(
            plugin.needs.begin(), plugin.needs.end(),
            [&](std::string_view name) { return present.find(name) != present.end(); }));
        json.key("remove_dom").boolean(false);
        json.key("tab_name").string(plugin.tab);
        write_mechanism(json, plugin, prefix);
      });
    }
  });
  return Answer::json(std::move(out));
}

// The frame of a dashboard that is a module of its own.
Answer plugin_entry(const Context&, const Request& request) {
  const std::string name(request.param("name").value_or(""));
  const auto found = std::find_if(listed().begin(), listed().end(),
                                  [&](const Listed& plugin) { return plugin.name == name; });
  if (found == listed().end()) return not_found(name);
  if (found->element != "*") return bad_request("Plugin is not module loadable");
  Answer answer;
  answer.content_type = "text/html; charset=utf-8";
  answer.body = "\n<!DOCTYPE html>\n<head><base href=\"plugin/" + name +
                "/\" /></head>\n<body><script type=\"module\">"
                "import(\"./index.js\").then((m) => void m.render());</script></body>\n";
  // The hash is that of the script above.
  answer.csp =
      "default-src 'self'; font-src 'self' data:; frame-src 'self'; img-src 'self' data: blob:; "
      "object-src 'none'; style-src 'self' data: 'unsafe-inline'; connect-src 'self'; "
      "script-src 'self' 'unsafe-eval' 'sha256-PVZp/wXI2V6hq7T2aNiDNM+vJWIOWwNwyhE53i+6lSQ='";
  return answer;
}

Answer redirect(std::string location) {
  Answer answer;
  answer.status = 302;
  answer.content_type = "text/html; charset=utf-8";
  answer.headers.emplace_back("Location", std::move(location));
  return answer;
}

Answer to_page(const Context& context, const Request&) {
  return redirect(context.settings.path_prefix + "/");
}

Answer notifications(const Context&, const Request&) {
  return redirect("../notifications_note.json");
}

constexpr Route kRoutes[] = {
    {"*", "/data/runs", runs},
    {"*", "/data/experiments", empty_list},
    {"*", "/data/experiment_runs", empty_list},
    {"*", "/data/logdir", logdir},
    {"*", "/data/window_properties", window_properties},
    {"*", "/data/environment", environment},
    {"*", "/data/plugins_listing", plugins_listing},
    {"*", "/data/plugin_entry.html", plugin_entry},
    {"*", "/data/notifications", notifications},
    {"*", "/audio", to_page},
    {"*", "/events", to_page},
    {"*", "/graphs", to_page},
    {"*", "/histograms", to_page},
    {"*", "/images", to_page},
};

}  // namespace

std::span<const Route> core_area() { return kRoutes; }

}  // namespace sonde::api::tensorboard
