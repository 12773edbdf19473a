#include "api/provider/newest_points.h"

#include <doctest/doctest.h>

#include "tests/support/fake_series.h"

using namespace sonde;
using api::provider::newest_point;
using api::provider::NewestPoint;

TEST_CASE("Newest point: a longer series is read from where the last answer ended") {
  test::FakeSeries series;
  series.add(5, 100.0, 0);
  series.add(3, 200.0, 0);
  const NewestPoint first = newest_point(series, nullptr);
  CHECK(first.step == 5);
  CHECK(first.wall_time == 200.0);
  CHECK(first.size == 2);

  series.steps[0] = 99;  // read already: nobody looks again
  series.add(7, 150.0, 0);
  const NewestPoint second = newest_point(series, &first);
  CHECK(second.step == 7);
  CHECK(second.wall_time == 200.0);
  CHECK(second.size == 3);
}

TEST_CASE("Newest point: a series whose points moved is read anew, hidden points do not count") {
  test::FakeSeries series;
  series.add(9, 100.0, 0);
  series.add(2, 200.0, 0);
  const NewestPoint first = newest_point(series, nullptr);
  series.show({{1, 2}});  // a restart hid the first point, and the layout is another
  CHECK(newest_point(series, &first).step == 2);
  series.show({});  // all are hidden: the tag stays listed
  CHECK(newest_point(series, &first).step == 9);
  CHECK(newest_point(test::FakeSeries(), nullptr).size == 0);
}
