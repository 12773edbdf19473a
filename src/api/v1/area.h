// The parts of /api/v1: each file exports its routes here, area.cc lists them. docs/api.md has a
// paragraph for each, tests/api a case.
#pragma once

#include <span>

#include "api/routes.h"

namespace sonde::api::v1 {

std::span<const Route> area();  // all of the below

std::span<const Route> alert_routes();         // alerts
std::span<const Route> capture_routes();       // profile/capture, profile/request
std::span<const Route> column_routes();        // columns, nearest, outside
std::span<const Route> console_routes();       // console, consoles
std::span<const Route> diagnosis_routes();     // diagnosis
std::span<const Route> digest_routes();        // digests
std::span<const Route> embedding_routes();     // embeddings
std::span<const Route> event_routes();         // events
std::span<const Route> export_routes();        // export
std::span<const Route> first_column_routes();  // columns/first
std::span<const Route> graph_routes();         // graphs
std::span<const Route> histogram_routes();     // histograms
std::span<const Route> hparam_routes();        // hparams/table, hparams/importance
std::span<const Route> job_routes();           // jobs
std::span<const Route> layout_routes();        // layouts
std::span<const Route> media_routes();         // media, blob, peaks
std::span<const Route> mesh_routes();          // mesh
std::span<const Route> numerics_routes();      // numerics
std::span<const Route> pr_curve_routes();      // pr_curves
std::span<const Route> profile_routes();       // profile/sessions, tools, report, rows
std::span<const Route> run_about_routes();     // run
std::span<const Route> run_routes();           // info, runs, tags, reload
std::span<const Route> sample_table_routes();  // tables
std::span<const Route> sidecar_routes();       // sidecar
std::span<const Route> table_routes();         // table
std::span<const Route> text_routes();          // text
std::span<const Route> trace_routes();         // trace
std::span<const Route> whatif_routes();        // whatif

}  // namespace sonde::api::v1
