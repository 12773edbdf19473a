// The areas of TensorBoard's API, one a plug-in, listed in api/routes.cc.
#pragma once

#include <span>

#include "api/routes.h"

namespace sonde::api::tensorboard {

std::span<const Route> core_area();
std::span<const Route> scalars_area();
std::span<const Route> timeseries_area();
std::span<const Route> media_area();  // images, audio
std::span<const Route> text_area();
std::span<const Route> histograms_area();  // and distributions
std::span<const Route> graphs_area();
std::span<const Route> hparams_area();
std::span<const Route> projector_area();
std::span<const Route> pr_curves_area();
std::span<const Route> custom_scalars_area();
std::span<const Route> mesh_area();
std::span<const Route> debugger_area();
std::span<const Route> profile_area();  // sessions only
std::span<const Route> whatif_area();

}  // namespace sonde::api::tensorboard
