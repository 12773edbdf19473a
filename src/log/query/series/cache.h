// Keeps what is costly to make from a long series (pyramids, trails of the moving average) between
// questions. Thread-safe. Entries are looked up by series and proved by the series' own points: a
// series that grew is extended, one that was replaced is made anew.
#pragma once

#include <memory>

#include "log/query/series/series_reader.h"

namespace sonde::query {

std::shared_ptr<const Pyramid> cached_pyramid(const ViewReader& reader, const SeriesKey& key,
                                              ThreadPool* pool);
std::shared_ptr<const EmaCheckpoints> cached_trail(const ViewReader& reader, const SeriesKey& key,
                                                   double weight);

// For tests and for the figures of the diagnosis page.
size_t cache_bytes();
void drop_cache();

}  // namespace sonde::query
