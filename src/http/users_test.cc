#include "http/users.h"

#include <doctest/doctest.h>

#include "base/sha256.h"

namespace sonde::http {

TEST_CASE("Users: a file says who may do what, and tokens are not in it") {
  const std::string ann = sha256_hex("token of ann"), bob = sha256_hex("token of bob");
  const auto users = parse_users("# team\nann admin " + ann + "\n\nbob viewer " + bob +
                                 " vision,speech # until May\ncarl editor -\n");
  REQUIRE(users);
  REQUIRE(users->size() == 3);
  CHECK(user_of_token(*users, "token of ann")->role == Role::kAdmin);
  CHECK(user_of_token(*users, "token of bob")->name == "bob");
  CHECK(user_of_token(*users, "token of carl") == nullptr);
  CHECK(user_of_token(*users, "") == nullptr);
  CHECK(user_of_token(*users, "-") == nullptr);
  CHECK(user_of_name(*users, "carl")->role == Role::kEditor);
  CHECK(users_of_project(*users, "speech").size() == 3);
  CHECK(users_of_project(*users, "text").size() == 2);
  const auto again = parse_users(users_text(*users));
  REQUIRE(again);
  CHECK(again->at(1).projects == users->at(1).projects);
  for (const char* wrong :
       {"ann admin", "ann king -", "ann admin abc", "ann viewer -\nann editor -"}) {
    const auto parsed = parse_users(wrong);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().text.find("line ") == 0);
  }
}

}  // namespace sonde::http
