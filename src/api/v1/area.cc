#include "api/v1/area.h"

#include <vector>

namespace sonde::api::v1 {

std::span<const Route> area() {
  static const std::vector<Route> all = [] {
    std::vector<Route> routes;
    for (const Area part :
         {alert_routes,        capture_routes,   column_routes,       console_routes,
          sample_table_routes, diagnosis_routes, digest_routes,       embedding_routes,
          event_routes,        export_routes,    first_column_routes, graph_routes,
          histogram_routes,    hparam_routes,    job_routes,          layout_routes,
          media_routes,        mesh_routes,      numerics_routes,     pr_curve_routes,
          profile_routes,      run_about_routes, run_routes,          sidecar_routes,
          table_routes,        text_routes,      trace_routes,        whatif_routes}) {
      routes.insert(routes.end(), part().begin(), part().end());
    }
    return routes;
  }();
  return all;
}

}  // namespace sonde::api::v1
