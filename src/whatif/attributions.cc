#include "whatif/attributions.h"

#include <fmt/format.h>

#include "whatif/files/json_rows.h"
#include "whatif/intervals.h"

namespace sonde::whatif {

std::shared_ptr<const Attributions> attributions_of(Dataset values, const std::string& key) {
  auto out = std::make_shared<Attributions>();
  std::erase_if(values.columns,
                [&](const Column& column) { return !column.is_numeric() || column.name == key; });
  out->distances = distance_model(values, {});
  out->values = std::move(values);
  return out;
}

Result<std::shared_ptr<const Attributions>> attributions_in(const std::vector<std::string>& rows) {
  DatasetBuilder builder;
  for (size_t row = 0; row < rows.size(); ++row) {
    SONDE_TRY(const object, read_json(rows[row]));
    if (!object.is_object())
      return fail(Code::kInvalid,
                  fmt::format("the attributions of example {} are no JSON object", row));
    if (auto added = add_json_row(object, builder); !added) return fail(std::move(added).error());
  }
  SONDE_TRY(values, std::move(builder).finish("attributions"));
  return attributions_of(std::move(values), "");
}

double attribution(const Column& column, size_t row) {
  double sum = kNaN;
  for (size_t at = column.begin(row); at < column.end(row); ++at)
    if (const double v = column.numbers[at]; !std::isnan(v)) sum = std::isnan(sum) ? v : sum + v;
  return sum;
}

std::vector<std::vector<double>> mean_attributions(const Attributions& attributions,
                                                   const Slicing& slicing) {
  const size_t slices = slicing.slices.size();
  std::vector<std::vector<double>> out(slices);
  for (const Column& column : attributions.values.columns) {
    std::vector<double> sums(slices), counts(slices);
    for (size_t row = 0; row < slicing.slice.size(); ++row) {
      const double v = attribution(column, row);
      if (std::isnan(v)) continue;
      sums[slicing.slice[row]] += v;
      ++counts[slicing.slice[row]];
    }
    for (size_t s = 0; s < slices; ++s)
      out[s].push_back(counts[s] > 0 ? sums[s] / counts[s] : kNaN);
  }
  return out;
}

}  // namespace sonde::whatif
