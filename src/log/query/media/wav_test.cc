#include "log/query/media/wav.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/support/log_maker.h"

namespace sonde::query {

TEST_CASE("wav: header, peaks, and claims beyond the file are cut") {
  std::string clip = test::wav(8000, 10);
  const auto peaks = wav_peaks(as_bytes(clip), 3);
  REQUIRE(peaks);
  CHECK(peaks->info.rate == 8000);
  CHECK(peaks->info.frames == 10);
  CHECK(peaks->min == std::vector<float>{-0.25f, -0.25f, -0.25f});
  CHECK(peaks->max == std::vector<float>{0.5f, 0.5f, 0.5f});
  CHECK(wav_peaks(as_bytes(clip), 100)->min.size() == 10);

  std::string liar = clip;
  liar.replace(40, 4, "\xff\xff\xff\x7f");  // claims 2 GB of samples
  CHECK(wav_peaks(as_bytes(liar), 4)->info.frames == 10);
  for (size_t n = 0; n < clip.size(); ++n) (void)wav_peaks(as_bytes(clip).first(n), 4);
  std::string silent = clip;
  silent[22] = 0;  // no channels
  CHECK(!wav_peaks(as_bytes(silent), 4));
  CHECK(wav_peaks(as_bytes(std::string("RIFFxxxxWAVE")), 4).error().code == Code::kCorrupt);
}

TEST_CASE("wav: peaks come one channel after the other") {
  std::string clip = test::wav(8000, 8);  // 0.5 and -0.25 in turn: as stereo, left and right
  clip[22] = 2;                           // channels
  const auto peaks = wav_peaks(as_bytes(clip), 2);
  REQUIRE(peaks);
  CHECK(peaks->info.frames == 4);
  CHECK(peaks->min == std::vector<float>{0.5f, 0.5f, -0.25f, -0.25f});
  CHECK(peaks->max == peaks->min);
}

}  // namespace sonde::query
