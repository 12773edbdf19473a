// Captures, checkpoints, sprites and tables of a store, as files of this machine. For each root there
// is a folder in the cache with a stand-in for every such file: its name, size and time, no bytes,
// readable by nobody. What walks folders sees them; the bytes come when one is opened (File,
// MappedFile), so of a thousand traces only those that somebody looks at are fetched. Thread-safe.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/remote/object_store.h"

namespace sonde::io {

// A path of this machine for a folder or file of a store whose root has been listed; any other path
// is returned as it is.
std::string local_view(const std::string& path);

// Makes the folder of a root say what a listing said: `others` are its files that are no event
// files, by path. False: there were too many, the rest has no stand-in.
bool show_beside(ObjectStore& store, const std::string& root,
                 const std::map<std::string, RemoteObject>& others);
// The folders that hold stand-ins, paths of this machine.
std::vector<std::string> beside_folders(const std::string& root);

// A path of this machine for a file or folder of a store, which is asked what is there. Its bytes come
// when they are read. An ordinary path is itself.
Result<std::string> here(const std::string& address);

// Fetches the bytes when the path is a stand-in; every other path costs a comparison.
Result<void> fetch_stand_in(const std::string& path);

// An object into a file, which appears when it is whole and has the object's time.
Result<void> download(ObjectStore& store, const RemoteObject& object, const std::string& path);

}  // namespace sonde::io
