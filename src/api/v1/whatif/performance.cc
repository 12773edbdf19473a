// How well a model does, for whom: thresholds, confusion, curves, calibration and strategies of a
// binary decision; confusion and labels of a classification; errors of a regression; worst slices.
#include "whatif/performance.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/v1/whatif/shared.h"
#include "whatif/curves.h"
#include "whatif/thresholds.h"
#include "whatif/worst_slices.h"

namespace sonde::api::v1 {
namespace {

constexpr size_t kCurvePoints = 400, kSlicesWithCurves = 40, kMaxLabelsShown = 100,
                 kMaxLabelCurves = 30;

void number_or_null(JsonWriter& json, double value) {
  if (std::isnan(value))
    json.null();
  else
    json.number(value);
}

// Everybody in one slice.
whatif::Slicing unsliced(size_t rows) {
  whatif::Slicing one;
  one.slice.assign(rows, 0);
  one.slices.push_back({{}, static_cast<uint32_t>(rows)});
  return one;
}

void write_points(JsonWriter& json, std::string_view key,
                  const std::vector<whatif::CurvePoint>& points) {
  json.key(key).array([&] {
    for (const whatif::CurvePoint& point : points) {
      json.array([&] {
        json.number(point.x);
        json.number(point.y);
        json.number(point.threshold);
      });
    }
  });
}

void write_curves(JsonWriter& json, const whatif::Ranked& ranked) {
  const whatif::Curves curves = whatif::curves_of(ranked, kCurvePoints);
  json.key("auc");
  write_interval(json, curves.auc, curves.auc_interval);
  json.key("average_precision");
  number_or_null(json, curves.average_precision);
  write_points(json, "roc", curves.roc);
  write_points(json, "pr", curves.precision_recall);
  const whatif::Calibration calibration = whatif::calibration_of(ranked);
  json.key("brier");
  number_or_null(json, calibration.brier);
  json.key("calibration_error");
  number_or_null(json, calibration.expected_error);
  json.key("calibration").array([&] {
    for (const whatif::CalibrationBin& bin : calibration.bins) {
      if (bin.count == 0) continue;
      json.object([&] {
        json.key("score").number(bin.mean_score);
        json.key("rate");
        write_interval(json, bin.positive_rate, bin.interval);
        json.key("count").number(bin.count);
      });
    }
  });
}

void write_sweep(JsonWriter& json, const whatif::Sweep& sweep) {
  const auto row = [&](std::string_view key, uint32_t whatif::Counts::* which) {
    json.key(key).array([&] {
      for (const whatif::Counts& counts : sweep) json.number(counts.*which);
    });
  };
  json.key("sweep").object([&] {
    row("tp", &whatif::Counts::tp);
    row("fp", &whatif::Counts::fp);
    row("tn", &whatif::Counts::tn);
    row("fn", &whatif::Counts::fn);
  });
}

void write_slice(JsonWriter& json, const whatif::Slice& slice) {
  json.key("name").string(slice.name());
  json.key("keys").array([&] {
    for (const std::string& key : slice.keys) json.string(key);
  });
  json.key("count").number(slice.count);
}

void write_gaps(JsonWriter& json, const whatif::Gaps& gaps) {
  json.key("gaps").object([&] {
    json.key("positive_rate").number(gaps.positive_rate);
    json.key("recall").number(gaps.recall);
    json.key("false_positive_rate").number(gaps.false_positive_rate);
    json.key("accuracy").number(gaps.accuracy);
  });
}

void write_strategies(JsonWriter& json, const std::vector<whatif::Sweep>& sweeps, double ratio,
                      whatif::Search search) {
  json.key("strategies").array([&] {
    if (sweeps.size() > whatif::kMaxFairSlices) return;
    for (size_t i = 0; i <= static_cast<size_t>(whatif::Strategy::kEqualisedOdds); ++i) {
      const auto strategy = static_cast<whatif::Strategy>(i);
      const auto decision = whatif::decide(sweeps, strategy, ratio, search);
      if (!decision) continue;
      double right = 0, total = 0;
      for (size_t s = 0; s < sweeps.size(); ++s) {
        const whatif::Counts& counts = sweeps[s][decision->thresholds[s]];
        right += double(counts.tp) + counts.tn;
        total += counts.total();
      }
      json.object([&] {
        json.key("name").string(whatif::name_of(strategy));
        json.key("thresholds").array([&] {
          for (const uint32_t k : decision->thresholds) json.number(k);
        });
        json.key("cost").number(decision->cost);
        json.key("gap").number(decision->gap);
        json.key("accuracy").number(whatif::share_of(right, total));
        write_gaps(json, whatif::gaps_at(sweeps, decision->thresholds));
        json.key("undefined").array([&] {
          for (const uint32_t slice : decision->undefined) json.number(slice);
        });
      });
    }
  });
}

void write_binary(JsonWriter& json, const Judged& judge, const whatif::Slicing& slicing,
                  double ratio, whatif::Search search) {
  const auto sweeps = whatif::sweeps_of(*judge.predictions, judge.truth, slicing);
  const bool has_curves = slicing.slices.size() <= kSlicesWithCurves;
  const auto ranked = has_curves ? whatif::ranked_of(*judge.predictions, judge.truth, slicing)
                                 : std::vector<whatif::Ranked>();
  const whatif::Sweep all = whatif::sum_of(sweeps);
  json.key("all").object([&] {
    json.key("name").string("all examples");
    json.key("keys").array([] {});
    json.key("count").number(static_cast<uint64_t>(slicing.slice.size()));
    write_sweep(json, all);
    write_curves(json, slicing.slices.size() == 1
                           ? ranked[0]
                           : whatif::ranked_all(*judge.predictions, judge.truth));
    const whatif::CompatibleAreas areas = whatif::compatible_areas(all);
    json.key("compatible").object([&] {
      json.key("roc").number(areas.roc);
      json.key("pr").number(areas.precision_recall);
    });
  });
  json.key("slices").array([&] {
    for (size_t i = 0; i < slicing.slices.size(); ++i) {
      json.object([&] {
        write_slice(json, slicing.slices[i]);
        write_sweep(json, sweeps[i]);
        if (has_curves) write_curves(json, ranked[i]);
      });
    }
  });
  write_strategies(json, sweeps, ratio, search);
}

void write_class(JsonWriter& json, const whatif::ClassFigures& f, size_t labels) {
  json.key("accuracy");
  write_interval(json, f.accuracy, f.accuracy_interval);
  json.key("judged").number(f.count);
  json.key("macro_f1");
  number_or_null(json, f.macro_f1);
  json.key("top").array([&] {
    for (const double share : f.top) json.number(share);
  });
  if (labels > kMaxLabelsShown) return;
  json.key("confusion").array([&] {
    for (const uint32_t n : f.confusion) json.number(n);
  });
  json.key("labels").array([&] {
    for (const whatif::LabelFigures& label : f.labels) {
      json.object([&] {
        json.key("support").number(label.support);
        json.key("precision").number(label.precision);
        json.key("recall").number(label.recall);
        json.key("f1").number(label.f1);
      });
    }
  });
}

void write_multiclass(JsonWriter& json, const Judged& judge, const whatif::Slicing& slicing) {
  const whatif::Slicing one = unsliced(slicing.slice.size());
  const size_t labels = judge.predictions->labels.size();
  json.key("all").object([&] {
    write_slice(json, one.slices[0]);
    write_class(json, whatif::class_figures(*judge.predictions, judge.truth, one, 0.5)[0], labels);
    if (labels <= kMaxLabelsShown) {
      json.key("one_vs_rest").array([&] {
        for (size_t i = 0; i < labels; ++i)
          json.object([&] {
            json.key("name").string(judge.predictions->labels[i]);
            write_sweep(json, whatif::one_against_rest(*judge.predictions, judge.truth, i));
            if (i < kMaxLabelCurves)
              write_curves(json, whatif::ranked_against_rest(*judge.predictions, judge.truth, i));
          });
      });
    }
  });
  const auto figures = whatif::class_figures(*judge.predictions, judge.truth, slicing, 0.5);
  json.key("slices").array([&] {
    for (size_t i = 0; i < slicing.slices.size(); ++i) {
      json.object([&] {
        write_slice(json, slicing.slices[i]);
        write_class(json, figures[i], labels);
      });
    }
  });
}

void write_regression(JsonWriter& json, const whatif::RegressionFigures& f) {
  json.key("judged").number(f.count);
  json.key("mean_error");
  number_or_null(json, f.mean_error);
  json.key("mean_absolute");
  write_interval(json, f.mean_absolute, f.mean_absolute_interval);
  json.key("mean_squared");
  number_or_null(json, f.mean_squared);
  json.key("median_absolute");
  number_or_null(json, f.median_absolute);
  json.key("r2");
  number_or_null(json, f.r2);
}

void write_regressions(JsonWriter& json, const Judged& judge, const whatif::Slicing& slicing) {
  const whatif::Slicing one = unsliced(slicing.slice.size());
  json.key("all").object([&] {
    write_slice(json, one.slices[0]);
    write_regression(json, whatif::regression_figures(*judge.predictions, judge.truth, one)[0]);
  });
  const auto figures = whatif::regression_figures(*judge.predictions, judge.truth, slicing);
  json.key("slices").array([&] {
    for (size_t i = 0; i < slicing.slices.size(); ++i) {
      json.object([&] {
        write_slice(json, slicing.slices[i]);
        write_regression(json, figures[i]);
      });
    }
  });
}

// The mean attribution of each feature: over all examples, and over those of each slice.
void write_attributions(JsonWriter& json, const whatif::Attributions& attributions,
                        const whatif::Slicing& slicing) {
  const auto means = whatif::mean_attributions(attributions, slicing);
  const auto everybody = whatif::mean_attributions(attributions, unsliced(slicing.slice.size()));
  const auto& columns = attributions.values.columns;
  json.key("attributions").array([&] {
    for (size_t c = 0; c < columns.size(); ++c) {
      json.object([&] {
        json.key("feature").string(columns[c].name);
        json.key("all");
        number_or_null(json, everybody[0][c]);
        json.key("slices").array([&] {
          for (const auto& slice : means) number_or_null(json, slice[c]);
        });
      });
    }
  });
}

}  // namespace

Answer whatif_performance(const Context&, const Request& request,
                          const std::shared_ptr<LoadedSet>& set) {
  SONDE_ANSWER(const body, object_of(request));
  SONDE_ANSWER(const judge, judged_by(*set, body));
  SONDE_ANSWER(const by, slices_in(body));
  SONDE_ANSWER(const ratio, number_in(body, "cost_ratio", 1));
  SONDE_ANSWER(const search, text_in(body, "search", "all_targets"));
  if (!(ratio >= 0 && ratio <= 1e9))
    return error({Code::kInvalid, "'cost_ratio' must lie between 0 and 1e9"}, "cost_ratio");
  if (search != "all_targets" && search != "first_slice")
    return error({Code::kInvalid, "'search' must be all_targets or first_slice"}, "search");
  SONDE_ANSWER(const slicing, whatif::slice_by(set->data(), by));
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("task").string(whatif::name_of(judge.predictions->task));
    json.key("label").string(judge.label->name);
    json.key("label_names").array([&] {
      for (const std::string& label : judge.predictions->labels) json.string(label);
    });
    json.key("features").array([&] {
      for (const std::string& feature : slicing.features) json.string(feature);
    });
    if (const auto attributions = set->attributions(judge.predictions->model))
      write_attributions(json, **attributions, slicing);
    switch (judge.predictions->task) {
      case whatif::Task::kBinary:
        return write_binary(
            json, judge, slicing, ratio,
            search == "first_slice" ? whatif::Search::kFirstSlice : whatif::Search::kAllTargets);
      case whatif::Task::kMulticlass:
        return write_multiclass(json, judge, slicing);
      case whatif::Task::kRegression:
        return write_regressions(json, judge, slicing);
    }
  });
  return Answer::json(std::move(out));
}

Answer whatif_worst(const Context& context, const Request& request,
                    const std::shared_ptr<LoadedSet>& set) {
  SONDE_ANSWER(const body, object_of(request));
  SONDE_ANSWER(const judge, judged_by(*set, body));
  SONDE_ANSWER(const threshold, number_in(body, "threshold", 0.5));
  SONDE_ANSWER(const depth, integer_in(body, "depth", 2));
  SONDE_ANSWER(const support, integer_in(body, "min_support", 30));
  SONDE_ANSWER(const count, integer_in(body, "count", 20));
  if (depth < 1 || depth > 3)
    return error({Code::kInvalid, "'depth' must lie between 1 and 3"}, "depth");
  if (support < 2 || count < 1 || count > 1000)
    return error({Code::kInvalid, "'min_support' must be at least 2 and 'count' 1 to 1000"});
  whatif::WorstOptions options;
  options.depth = static_cast<size_t>(depth);
  options.min_support = static_cast<size_t>(support);
  options.count = static_cast<size_t>(count);
  options.skip = set->non_features();
  options.skip.push_back(judge.label->name);
  options.pool = &context.pool;
  const std::vector<double> losses = losses_of(judge, threshold);
  const auto found = whatif::worst_slices(set->data(), losses, options);
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("task").string(whatif::name_of(judge.predictions->task));
    json.key("slices").array([&] {
      for (const whatif::WorstSlice& slice : found) {
        json.object([&] {
          json.key("conditions").array([&] {
            for (size_t i = 0; i < slice.features.size(); ++i) {
              json.array([&] {
                json.string(slice.features[i]);
                json.string(slice.values[i]);
              });
            }
          });
          json.key("support").number(slice.support);
          json.key("loss");
          write_interval(json, slice.loss, slice.interval);
          json.key("rest").number(slice.rest);
          json.key("excess").number(slice.excess);
        });
      }
    });
  });
  return Answer::json(std::move(out));
}

}  // namespace sonde::api::v1
