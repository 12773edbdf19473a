#include "api/services/found_folders.h"

#include <chrono>
#include <thread>

namespace sonde::api {

std::shared_ptr<const std::vector<io::NamedFolder>> found_folders(const Context& context) {
  auto folders = context.store.folders();
  for (int i = 0; i < 200 && folders->empty() && context.store.snapshot()->progress.loading; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    folders = context.store.folders();
  }
  return folders;
}

}  // namespace sonde::api
