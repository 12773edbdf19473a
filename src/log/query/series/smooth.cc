#include "log/query/series/smooth.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "log/query/series/series_reader.h"

namespace sonde::query {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

size_t half_window(const Smoothing& smoothing) {
  const double p = std::clamp(smoothing.p, 1.0, kMaxWindow);
  return static_cast<size_t>((p - 1) / 2);
}

std::vector<double> gauss_weights(const Smoothing& smoothing) {
  const double sigma = std::clamp(smoothing.p, 1e-3, kMaxSigma);
  const auto reach = static_cast<size_t>(std::ceil(4 * sigma));
  std::vector<double> weights(reach + 1);  // by distance
  for (size_t d = 0; d <= reach; ++d) {
    const double z = static_cast<double>(d) / sigma;
    weights[d] = std::exp(-0.5 * z * z);
  }
  return weights;
}

// Weighted mean of the finite values around `at`; a value that is not finite stays what it is.
double gauss_at(std::span<const double> values, size_t at, const std::vector<double>& weights) {
  if (!std::isfinite(values[at])) return values[at];
  double sum = 0, weight = 0;
  const size_t reach = weights.size() - 1;
  const size_t begin = at > reach ? at - reach : 0;
  const size_t end = std::min(values.size(), at + reach + 1);
  for (size_t i = begin; i < end; ++i) {
    const double w = std::isfinite(values[i]) ? weights[i < at ? at - i : i - at] : 0;
    sum += w == 0 ? 0 : w * values[i];
    weight += w;
  }
  return sum / weight;
}

double mean_at(std::span<const double> values, size_t at, size_t half) {
  if (!std::isfinite(values[at])) return values[at];
  double sum = 0;
  size_t count = 0;
  const size_t end = std::min(values.size(), at + half + 1);
  for (size_t i = at > half ? at - half : 0; i < end; ++i) {
    if (!std::isfinite(values[i])) continue;
    sum += values[i];
    ++count;
  }
  return sum / static_cast<double>(count);
}

// All window means in one pass: the sum is made anew every 256 points, so that errors do not grow.
std::vector<double> window_means(std::span<const double> values, size_t half) {
  std::vector<double> out(values.size());
  double sum = 0;
  size_t count = 0, begin = 0, end = 0;
  const auto add = [&](double value, int sign) {
    if (!std::isfinite(value)) return;
    sum += sign * value;
    count += static_cast<size_t>(sign);
  };
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t from = i > half ? i - half : 0, to = std::min(values.size(), i + half + 1);
    if (half < 64 || i % 256 == 0) {
      sum = 0;
      count = 0;
      for (size_t k = from; k < to; ++k) add(values[k], 1);
    } else {
      for (; begin < from; ++begin) add(values[begin], -1);
      for (; end < to; ++end) add(values[end], 1);
    }
    begin = from;
    end = to;
    out[i] = std::isfinite(values[i]) ? sum / static_cast<double>(count) : values[i];
  }
  return out;
}

// The mean over a window of a long series: whole chunks by their sums, the rest point by point.
double long_mean_at(const SeriesReader& lens, uint64_t at, uint64_t half, Points& scratch) {
  const Pyramid& pyramid = lens.pyramid();
  const uint64_t begin = at > half ? at - half : 0, end = std::min(lens.size(), at + half + 1);
  double sum = 0, own = kNaN;
  uint64_t count = 0;
  for (uint64_t i = begin; i < end;) {
    const uint64_t chunk = i / kChunk, chunk_end = pyramid.chunk_end(chunk);
    const bool whole = i == chunk * kChunk && chunk_end <= end && !(at >= i && at < chunk_end);
    if (whole) {
      sum += pyramid.chunks[chunk].sum;
      count += pyramid.chunks[chunk].finite;
      i = chunk_end;
      continue;
    }
    const uint64_t stop = std::min(end, chunk_end);
    scratch.clear();
    lens.read(i, stop, scratch);
    if (at >= i && at < stop) own = scratch.values[at - i];
    for (const double value : scratch.values) {
      if (!std::isfinite(value)) continue;
      sum += value;
      ++count;
    }
    i = stop;
  }
  return std::isfinite(own) ? sum / static_cast<double>(count) : own;
}

std::vector<double> long_ema_at(const SeriesReader& lens, double weight,
                                std::span<const uint64_t> indices) {
  std::vector<double> out(indices.size());
  const bool constant = lens.is_constant();
  const auto trail = constant ? nullptr : lens.trail(weight);
  Points points;
  std::vector<double> chunk_out;
  uint64_t loaded = UINT64_MAX;
  for (size_t k = 0; k < indices.size(); ++k) {
    const uint64_t chunk = indices[k] / kChunk;
    if (chunk != loaded) {
      points.clear();
      lens.read(chunk * kChunk, lens.pyramid().chunk_end(chunk), points);
      chunk_out = points.values;
      if (trail) {
        EmaState state = trail->at[chunk];
        for (double& value : chunk_out) value = state.next(value, weight);
      }
      loaded = chunk;
    }
    out[k] = chunk_out[indices[k] - chunk * kChunk];
  }
  return out;
}

std::vector<double> long_gauss_at(const SeriesReader& lens, const Smoothing& smoothing,
                                  std::span<const uint64_t> indices) {
  const std::vector<double> weights = gauss_weights(smoothing);
  const uint64_t reach = weights.size() - 1;
  std::vector<double> out(indices.size());
  Points points;
  uint64_t begin = 0, end = 0;  // what `points` holds
  for (size_t k = 0; k < indices.size(); ++k) {
    const uint64_t at = indices[k];
    const uint64_t from = at > reach ? at - reach : 0, to = std::min(lens.size(), at + reach + 1);
    if (from < begin || to > end) {
      points.clear();
      begin = from;
      end = std::min(lens.size(), to + 4 * reach + kChunk);  // room for the next few indices
      if (k + 1 == indices.size() || indices[k + 1] >= end) end = to;
      lens.read(begin, end, points);
    }
    const std::span<const double> window(points.values.data() + (from - begin), to - from);
    out[k] = gauss_at(window, at - from, weights);
  }
  return out;
}

}  // namespace

double EmaState::next(double value, double weight) {
  if (!std::isfinite(value)) return value;
  last = last * weight + (1 - weight) * value;
  ++n;
  if (settled) return last;
  const double bias = std::pow(weight, static_cast<double>(n));
  settled = bias < 0x1p-54;  // from here on 1 - bias is exactly 1
  return last / (1 - bias);
}

std::vector<double> smoothed(std::span<const double> values, const Smoothing& smoothing) {
  std::vector<double> out(values.begin(), values.end());
  switch (smoothing.kind) {
    case Smoothing::Kind::kNone:
      return out;
    case Smoothing::Kind::kEma: {
      if (std::all_of(out.begin(), out.end(), [&](double v) { return v == out[0]; })) return out;
      EmaState state;
      for (double& value : out) value = state.next(value, smoothing.p);
      return out;
    }
    case Smoothing::Kind::kMean:
      return window_means(values, half_window(smoothing));
    case Smoothing::Kind::kGauss: {
      const std::vector<double> weights = gauss_weights(smoothing);
      for (size_t i = 0; i < out.size(); ++i) out[i] = gauss_at(values, i, weights);
      return out;
    }
  }
  return out;
}

std::vector<double> smoothed_at(const SeriesReader& lens, const Smoothing& smoothing,
                                std::span<const uint64_t> indices) {
  std::vector<double> out(indices.size());
  if (lens.is_small()) {
    const std::span<const double> values = lens.all().values;
    if (smoothing.kind == Smoothing::Kind::kMean) {
      const size_t half = half_window(smoothing);
      for (size_t k = 0; k < out.size(); ++k) out[k] = mean_at(values, indices[k], half);
    } else if (smoothing.kind == Smoothing::Kind::kGauss) {
      const std::vector<double> weights = gauss_weights(smoothing);
      for (size_t k = 0; k < out.size(); ++k) out[k] = gauss_at(values, indices[k], weights);
    } else {
      const std::vector<double> all = smoothed(values, smoothing);
      for (size_t k = 0; k < out.size(); ++k) out[k] = all[indices[k]];
    }
    return out;
  }
  switch (smoothing.kind) {
    case Smoothing::Kind::kEma:
      return long_ema_at(lens, smoothing.p, indices);
    case Smoothing::Kind::kGauss:
      return long_gauss_at(lens, smoothing, indices);
    case Smoothing::Kind::kMean: {
      Points scratch;
      const uint64_t half = half_window(smoothing);
      for (size_t k = 0; k < out.size(); ++k)
        out[k] = long_mean_at(lens, indices[k], half, scratch);
      return out;
    }
    case Smoothing::Kind::kNone:
      break;
  }
  Points point;
  for (size_t k = 0; k < out.size(); ++k) {
    point.clear();
    lens.read(indices[k], indices[k] + 1, point);
    out[k] = point.values[0];
  }
  return out;
}

}  // namespace sonde::query
