// What the two halves of the What-If plug-in's routes share: answers, errors, the examples as a table.
#pragma once

#include <string>
#include <vector>

#include "api/routes.h"
#include "api/services/whatif_sets.h"

namespace sonde::api::tensorboard::plugin_whatif {

Answer fresh(std::string body, int status = 200);
Answer wrong(const Error& error);  // {"error": …}
Answer wrong(std::string text, Code code = Code::kInvalid);
Answer foreign();
int64_t number(const Request& request, std::string_view name, int64_t otherwise);

// Call both with the examples' lock held.
whatif::Dataset table_of(const PluginExamples& all, const std::vector<size_t>& rows);
std::vector<size_t> all_rows(const PluginExamples& all);

// whatif_models.cc
Answer infer(const Context& context, const Request& request);
Answer infer_mutants(const Context& context, const Request& request);
Answer eligible_features(const Context& context, const Request& request);
Answer sort_eligible_features(const Context& context, const Request& request);

}  // namespace sonde::api::tensorboard::plugin_whatif
