// Log directories that are not on this machine: s3://bucket/prefix, web servers, WebHDFS
// (object_store.h). The rest of io hands paths of
// that form to these functions; everything above sees files and runs as always.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/file.h"
#include "io/remote/block_cache.h"
#include "io/remote/object_store.h"
#include "io/scan.h"

namespace sonde::io {

// "s3" of "s3://bucket/x"; empty for an ordinary path.
std::string_view scheme_of(std::string_view path);
// True for what is no path of this machine, whoever reads it: an object store, a database.
inline bool is_address(std::string_view path) { return !scheme_of(path).empty(); }
// True for places that are read through this file.
bool is_remote(std::string_view path);
// kUnsupported, saying what to do, for a scheme that is not read (gs://, hdfs:// ...).
Result<void> check_scheme(std::string_view path);
// Asks the store whether the place may be listed; kForbidden, kNotFound, kUnsupported, kIo.
Result<void> check_remote(std::string_view path);

// The runs below a place. When the store cannot be asked the last answer counts, and the reason is
// in `scan.skipped`: a network that is down for a minute makes no run disappear.
std::vector<FoundRun> scan_remote(const std::string& root, Scan& scan);
// Of an object as the last listing saw it, asked for when there was none.
Result<FileStat> stat_remote(const std::string& path);
Result<std::unique_ptr<Source>> open_remote(const std::string& path);

// Every file below a place, in the order of paths.
Result<std::vector<RemoteObject>> list_remote(const std::string& root);
// The store of an address; null for a path of this machine.
ObjectStore* store_of(std::string_view path);

CacheCounts remote_cache_counts();
// Where what was fetched is kept, and how much of it; empty: nowhere.
std::string remote_cache_folder();
uint64_t remote_cache_budget();

}  // namespace sonde::io
