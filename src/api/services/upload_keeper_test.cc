#include "api/services/upload_keeper.h"

#include <doctest/doctest.h>

namespace sonde::api {

TEST_CASE("UploadKeeper: forgets when no page is open and nobody asks, not before") {
  std::atomic<size_t> pages{1};
  std::atomic<int> forgotten{0};
  UploadKeeper keeper(
      std::chrono::milliseconds(60), [&] { return pages.load(); }, [&] { ++forgotten; });
  keeper.note_upload();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  CHECK(forgotten == 0);  // a page is open
  pages = 0;
  for (int i = 0; i < 500 && forgotten == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(forgotten == 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  CHECK(forgotten == 1);  // nothing new to forget
  keeper.note_upload();
  for (int i = 0; i < 500 && forgotten == 1; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(forgotten == 2);
}

}  // namespace sonde::api
